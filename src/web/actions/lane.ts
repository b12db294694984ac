import { laneAdd } from "../../ops/lane-add.ts";
import { laneClose } from "../../ops/lane-close.ts";
import { laneUpdate } from "../../ops/lane-update.ts";
import type { Field } from "../forms.ts";
import { type Actions, TASK } from "./action.ts";

const FIELDS: readonly Field[] = [
  { name: "path", label: "Paths" },
  { name: "after", label: "After" },
  { name: "owner", label: "Owner" },
];
const ABOUT = ["lane"];

/** Which paths a task keeps for itself. */
export const LANE_ACTIONS: Actions = {
  lane: {
    operation: laneAdd,
    title: "Reserve paths for this task",
    button: "Reserve",
    fields: [...FIELDS, { name: "why", label: "Why", long: true }],
    task: TASK,
  },
  "lane-edit": {
    operation: laneUpdate,
    title: "Edit the lane",
    button: "Save",
    fields: FIELDS,
    about: ABOUT,
    task: TASK,
  },
  "lane-close": {
    operation: laneClose,
    title: "Release the lane's paths",
    button: "Release",
    fields: [],
    about: ABOUT,
    task: TASK,
  },
};
