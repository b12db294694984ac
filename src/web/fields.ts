/** The fields of a form or of a JSON object as texts; the operation that gets them decides what they may be. */
export function fieldsOf(body: unknown): Record<string, string | undefined> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return {};
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) =>
      ["string", "number", "boolean"].includes(typeof value) && value !== "" ? [[name, String(value)]] : [],
    ),
  );
}
