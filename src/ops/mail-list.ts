import * as z from "zod/mini";
import { isUnread, overtakenBy, senderName } from "../judge/mail.ts";
import { parseTaskId } from "../model/ids.ts";
import { flag, taskField } from "../model/input.ts";
import { type Message, message } from "../model/records/parts.ts";
import { columns, firstLine, type Style, warningsOf } from "../model/text.ts";
import type { Reader } from "../ports/ports.ts";
import { operation } from "./operation.ts";

export const mailList = operation({
  id: "mail.list",
  summary: "List messages: from whom, to whom, about which run",
  details:
    "Shows messages that nobody has acknowledged, for every unfinished task; with a task, that task's.\n`overtaken` marks a message to or about a run that another run has followed: it is kept but delivered to\nnobody. --all includes settled ones.",
  examples: ["pawl mail list", "pawl mail list T0001 --all --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField(), all: flag("include acknowledged and closed ones") }),

  gather(reader, input) {
    const tasks =
      input.task === undefined
        ? reader.current().tasks.map((one) => one.id)
        : [reader.task(parseTaskId(input.task)).value.id];
    const found = tasks.map((task) => reader.parts(message, task));
    const mail = found
      .flatMap((one) => one.records.map((record) => record.value))
      .filter((one) => input.all || isUnread(one));
    return {
      mail: mail.map((one) => ({ ...one, overtaken_by: overtakerOf(reader, one) })),
      problems: found.flatMap((one) => one.problems),
    };
  },

  decide: (_input, { mail, problems }) => ({
    data: { mail },
    warnings: warningsOf(problems),
    next: mail[0] && {
      command: `pawl mail ack ${mail[0].id}`,
      reason: "shows all of it and marks it as read",
    },
  }),

  text: ({ mail }, style) =>
    mail.length === 0 ? "no mail" : columns(mail.map((one) => mailRow(one, style))),
});

const overtakerOf = (reader: Reader, one: Message) => (isUnread(one) ? overtakenBy(reader, one) : undefined);

function mailRow(one: Message & { overtaken_by: string | undefined }, style: Style): string[] {
  const state = one.overtaken_by === undefined ? one.status : `overtaken by ${one.overtaken_by}`;
  return [
    style.bold(one.id),
    state,
    `${senderName(one)} → ${one.to}`,
    one.run === undefined ? "" : `about ${one.run}`,
    firstLine(one.text, 80),
  ];
}
