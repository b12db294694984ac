import { createHash } from "node:crypto";

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

export const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
