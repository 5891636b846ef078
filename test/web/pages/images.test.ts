import { describe, expect, it } from "vitest";
import { imageAddress } from "../../../src/web/pages/content.ts";

const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");

describe("addresses of images", () => {
  it("are given to raster formats, told by their bytes", () => {
    const png = base64("\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    expect(imageAddress(png)).toBe(`data:image/png;base64,${png}`);
    expect(imageAddress(base64("\xff\xd8\xff\xe0\0\x10JFIF\0"))).toMatch(/^data:image\/jpeg;/);
    expect(imageAddress(base64("GIF89a\x01\0\x01\0\x80\0\0"))).toMatch(/^data:image\/gif;/);
    expect(imageAddress(base64("RIFF\x24\0\0\0WEBPVP8 "))).toMatch(/^data:image\/webp;/);
  });

  it("are given to nothing else", () => {
    expect(imageAddress(base64('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'))).toBeNull();
    expect(imageAddress("")).toBeNull();
    expect(imageAddress(`${base64("GIF89a\x01\0\x01\0\x80\0")}" onerror="alert(1)`)).toBeNull();
    expect(imageAddress("not base64 at all!")).toBeNull();
  });
});
