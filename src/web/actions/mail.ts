import { mailAck } from "../../ops/mail-ack.ts";
import { mailSend } from "../../ops/mail-send.ts";
import { type Actions, TASK } from "./action.ts";

const ABOUT = ["message"];

/** Words that wait for whom they are for. */
export const MAIL_ACTIONS: Actions = {
  mail: {
    operation: mailSend,
    title: "Leave a message",
    button: "Leave it",
    fields: [
      { name: "to", label: "To" },
      { name: "text", label: "Message", long: true },
      { name: "run", label: "About a run" },
    ],
    task: TASK,
    tab: "mail",
  },
  "mail-read": {
    operation: mailAck,
    title: "The message was read",
    button: "It was read",
    fields: [],
    about: ABOUT,
    task: TASK,
    tab: "mail",
  },
  "mail-close": {
    operation: mailAck,
    title: "Nothing is left to do about the message",
    button: "Close it",
    fields: [],
    fixed: { close: true },
    about: ABOUT,
    task: TASK,
    tab: "mail",
  },
};
