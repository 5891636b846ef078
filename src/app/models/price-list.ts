// The price list, a package beside jpg. In a file of its own: of one that imports a package, compiled code cannot be kept.
import { codeOf } from "../../core/errors.ts";

/** Loads it; null where the package is not installed: prices are no reason to fail. */
export async function loadPriceList(): Promise<typeof import("@pydantic/genai-prices") | null> {
  try {
    return await import("@pydantic/genai-prices");
  } catch (error) {
    if (codeOf(error) === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}
