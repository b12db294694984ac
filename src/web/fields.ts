/** The fields of a form or of a JSON object as strings; the operation validates them. */
export function fieldsOf(body: unknown): Record<string, string | undefined> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return {};
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) =>
      ["string", "number", "boolean"].includes(typeof value) && value !== "" ? [[name, String(value)]] : [],
    ),
  );
}
