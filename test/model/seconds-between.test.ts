import { expect, test } from "vitest";
import { secondsBetween } from "../../src/model/duration.ts";

const MOMENTS = [
  "1999-12-31T23:59:59Z",
  "2000-02-29T00:00:00Z",
  "2026-11-17T10:00:00.000Z",
  "2026-11-17T12:00:05.900Z",
];
const MORE = [
  "2027-03-01T00:00:00Z",
  "2028-02-29T12:30:00Z",
  "2028-03-01T00:00:00Z",
  "2100-02-28T00:00:00Z",
  "2100-03-01T00:00:00Z",
];
const all = [...MOMENTS, ...MORE];
const seconds = (moment: string) => Math.floor(Date.parse(moment) / 1_000);

test("is what the calendar says, over leap years and turns of the century", () => {
  for (const one of all)
    for (const other of all)
      expect(secondsBetween(one, other), `${one} ${other}`).toBe(seconds(other) - seconds(one));
});

test("is undefined when either value is not a time", () => {
  expect(secondsBetween("soon", MOMENTS[0] ?? "")).toBeUndefined();
  expect(secondsBetween(MOMENTS[0] ?? "", "")).toBeUndefined();
});
