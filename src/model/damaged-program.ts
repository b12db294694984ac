/** The code of the error that says that a file of the program itself cannot be run. */
export const DAMAGED = "PAWL_DAMAGED";

export const REPAIR =
  "Install pawl again: `node .pawl/get.cjs` in a clone, else the package that it came in.";
