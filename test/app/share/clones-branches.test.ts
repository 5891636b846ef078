// @module-tag law
// The law of sharing where conversations are published as branches.
import { testSharing } from "../../helpers/sharing-law.ts";

testSharing("branches");
