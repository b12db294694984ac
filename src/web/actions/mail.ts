import { mailAck } from "../../ops/mail-ack.ts";
import { mailSend } from "../../ops/mail-send.ts";
import { type Actions, TASK } from "./action.ts";

const ABOUT = ["message"];

/** Messages, which wait until they are read. */
export const MAIL_ACTIONS: Actions = {
  mail: {
    operation: mailSend,
    title: "Send a message",
    button: "Send",
    fields: [
      { name: "to", label: "To" },
      { name: "text", label: "Message", long: true },
      { name: "run", label: "About run" },
    ],
    task: TASK,
    tab: "mail",
  },
  "mail-read": {
    operation: mailAck,
    title: "Mark the message as read",
    button: "Mark as read",
    fields: [],
    about: ABOUT,
    task: TASK,
    tab: "mail",
  },
  "mail-close": {
    operation: mailAck,
    title: "Close the message",
    button: "Close message",
    fields: [],
    fixed: { close: true },
    about: ABOUT,
    task: TASK,
    tab: "mail",
  },
};
