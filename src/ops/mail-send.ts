import * as z from "zod/mini";
import { addPart, madeNow } from "../judge/change.ts";
import { aboutRun, addressOf, senderOf } from "../judge/mail.ts";
import { line, maybe, prose, taskField } from "../model/input.ts";
import { message } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import { operation } from "./operation.ts";

export const mailSend = operation({
  id: "mail.send",
  summary: "Leave a message for a task, a lane, a run, the manager or the human",
  details:
    "It is read when its reader looks: in `pawl session`, when an agent starts, continues or is about to stop, and\nin `pawl inbox`. Nobody is interrupted. A message to a run (T1/R2) is for that run alone, and so is one to a\ntask with --run. `manager` is the run that started yours, `human` the person who reads the inbox.",
  examples: [
    'pawl mail send T0001 "The API key is in the vault now"',
    'pawl mail send human "Which of the two formats is meant?" --task T0001',
    'pawl mail send T0007 "Your change of src/api breaks T0001" --run T7/R1',
  ],
  access: "write",
  cli: { positional: ["to", "text"] },
  input: z.strictObject({
    to: line("a task, a lane (T1/L1), a run (T1/R2), manager or human", "TO", 40),
    text: prose("the message"),
    run: maybe(line("the run that it is about", "R", 40)),
    task: taskField(),
  }),
  milestone: ({ message: value }) => `${value.id}: to ${value.to}`,

  gather(reader, input, at) {
    const address = addressOf(reader, input.to, input.task, at);
    return {
      address,
      about: input.run === undefined ? undefined : aboutRun(reader, input.run, address.task),
      sender: senderOf(reader, at),
      names: reader.partNames(message, address.task),
    };
  },

  decide(input, { address, about, sender, names }, at) {
    const { effect, value } = addPart(
      message,
      address.task,
      names,
      (id) => ({
        id,
        status: "open" as const,
        to: address.to,
        from_run: sender,
        run: about,
        report: false,
        acknowledged_by: undefined,
        ...madeNow(at),
        text: input.text,
      }),
      `to ${address.to}: ${firstLine(input.text, 60)}`,
    );
    return { data: { message: value }, effects: [effect] };
  },

  text: ({ message: value }, style) => `${style.bold(value.id)} to ${value.to}: ${firstLine(value.text)}`,
});
