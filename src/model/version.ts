/** The same as in package.json; a test keeps the two together. */
export const VERSION = "0.1.0";
