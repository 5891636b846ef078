// Property tests under mutation: the same examples each time, so that a score can be compared with the last one, and no search
// for the smallest failing one, because any failure kills a mutant.
import fc from "fast-check";

fc.configureGlobal({ seed: 20261122, endOnFailure: true });
