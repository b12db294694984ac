import { Failure } from "../model/failure.ts";
import { PLAIN } from "../model/text.ts";
import { type Caller, callOperation, loadOperation } from "./call.ts";
import { TOOLS } from "./tools.ts";

/** What a client may show or attach without a call of the model: a task as it is, and the packet to resume it from. */
const KINDS: Readonly<Record<string, { operation: string; title: string }>> = {
  task: { operation: "task.show", title: "Everything recorded of a task" },
  context: { operation: "context", title: "Packet to resume a task from" },
};

const MIME = "text/markdown";

/** `current` is the task that the server's own place or the only active one says. */
export function listResources() {
  return Object.entries(KINDS).map(([kind, { title }]) => ({
    uri: `pawl://${kind}/current`,
    name: `${kind}-current`,
    title: `${title}: the current one`,
    mimeType: MIME,
  }));
}

export function listTemplates() {
  return Object.entries(KINDS).map(([kind, { title }]) => ({
    uriTemplate: `pawl://${kind}/{id}`,
    name: kind,
    title,
    mimeType: MIME,
  }));
}

export async function readResource(uri: string, caller: Caller) {
  const [, kind = "", name = ""] = /^pawl:\/\/([a-z]+)\/([A-Za-z0-9]{1,20})$/.exec(uri) ?? [];
  const found = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  const spec = found && TOOLS[found.operation];
  if (!found || !spec)
    throw new Failure("not_found", "no_resource", `There is no resource "${uri.slice(0, 80)}".`, {
      hint: "Use pawl://task/T0001 or pawl://context/T0001, or `current` in place of the id.",
    });
  const operation = await loadOperation(found.operation);
  const input = name === "current" ? {} : { task: name };
  const { data } = await callOperation(operation, spec, "all", input, caller);
  return { contents: [{ uri, mimeType: MIME, text: operation.text(data, PLAIN) }] };
}
