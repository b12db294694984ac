import { forEachChild, parse } from "unbash";

/** The parser in a file of its own: a line without quotes, variables or operators does not need it, and it is large. */
export const parser = { forEachChild, parse };
export type Parser = typeof parser;
