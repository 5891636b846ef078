// @module-tag law
// The law of sharing where conversations are published as hidden refs.
import { testSharing } from "../../helpers/sharing-law.ts";

testSharing("hidden");
