import * as z from "zod/mini";
import { change } from "../judge/change.ts";
import { mayAcknowledge, senderName } from "../judge/mail.ts";
import { getPart } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { flag, line, taskField } from "../model/input.ts";
import { MAIL_STATUSES, message } from "../model/records/parts.ts";
import { operation } from "./operation.ts";

export const mailAck = operation({
  id: "mail.ack",
  summary: "Show a message and mark it as read; with --close, as done",
  details:
    "Only the addressee can: the run it is for, whoever works on its task, or a human. A message only moves\nforward, from open to acknowledged to closed.",
  examples: ["pawl mail ack T0001/M1", "pawl mail ack T0001/M1 --close"],
  access: "write",
  cli: { positional: ["message"] },
  input: z.strictObject({
    message: line("the message", "M", 40),
    close: flag("mark it as done"),
    task: taskField(),
  }),

  gather(reader, input, at) {
    const stored = getPart(reader, message, input.message, input.task, at);
    return { stored, may: mayAcknowledge(reader, stored.value, at) };
  },

  decide(input, { stored, may }, at) {
    const { value } = stored;
    if (!may)
      throw new Failure(
        "refused",
        "not_your_mail",
        `${value.id} is addressed to ${value.to}, and you are ${at.actor}.`,
        {
          hint:
            value.to === "human"
              ? "Leave it to its addressee."
              : "Leave it to its addressee; a human can also settle it.",
          details: { message: value.id, to: value.to, run: value.run },
        },
      );
    const status = input.close ? "closed" : "acknowledged";
    if (MAIL_STATUSES.indexOf(status) <= MAIL_STATUSES.indexOf(value.status))
      return { data: { message: value } };
    const by = { status, acknowledged_by: value.acknowledged_by ?? at.actor } as const;
    const changed = change(message, stored, by, at, status);
    return { data: { message: changed.value }, effects: [changed.effect] };
  },

  text: ({ message: value }, style) =>
    `${style.bold(value.id)} ${value.status}, from ${senderName(value)} to ${value.to}${value.run === undefined ? "" : `, about ${value.run}`}\n\n${value.text}`,
});
