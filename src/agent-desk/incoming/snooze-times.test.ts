import { describe, expect, it } from "vitest";
import { tomorrowMorning } from "./snooze-times.ts";
import { readConfigFile } from "#config/file.ts";

const at = (iso: string): number => Date.parse(iso);
const shown = (ms: number): string => new Date(ms).toISOString();

describe("tomorrow at nine", () => {
  it("is nine o'clock in the agent's time zone", () => {
    expect(shown(tomorrowMorning(at("2031-05-14T10:20:30Z"), "Europe/Berlin"))).toBe("2031-05-15T07:00:00.000Z");
    expect(shown(tomorrowMorning(at("2031-05-14T23:30:00Z"), "Asia/Tokyo"))).toBe("2031-05-16T00:00:00.000Z");
    expect(shown(tomorrowMorning(at("2031-05-14T23:30:00Z"), "America/New_York"))).toBe("2031-05-15T13:00:00.000Z");
  });

  it("is nine o'clock across a change to or from summer time", () => {
    expect(shown(tomorrowMorning(at("2031-03-29T20:00:00Z"), "Europe/Berlin"))).toBe("2031-03-30T07:00:00.000Z");
    expect(shown(tomorrowMorning(at("2031-10-25T20:00:00Z"), "Europe/Berlin"))).toBe("2031-10-26T08:00:00.000Z");
  });

  it("is in UTC for an unknown time zone", () => {
    for (const zone of [null, "Mars/Olympus"]) {
      expect(shown(tomorrowMorning(at("2031-12-31T10:00:00Z"), zone))).toBe("2032-01-01T09:00:00.000Z");
    }
  });
});

describe("a desk in the configuration file", () => {
  const read = (desk: string) =>
    readConfigFile(
      "parley.yaml",
      `workspaces:
  - name: Shop
    channels:
      - {name: slack, channel: slack}
      - {name: tg, channel: telegram}
    desk: ${desk}
`,
      {},
    ).workspaces[0]?.desk;

  it("shows escalated conversations and sends what agents write, by default", () => {
    expect(read("{kind: slack, account: slack, channel: C0123456789}")).toEqual({
      account: "slack",
      channel: "C0123456789",
      mirror: "escalated",
      replyMode: "implicit",
    });
    expect(read("{kind: slack, account: slack, channel: G0123456789, mirror: every, reply_mode: explicit}")).toEqual({
      account: "slack",
      channel: "G0123456789",
      mirror: "every",
      replyMode: "explicit",
    });
  });

  it("must name an account of its platform and the id of a channel", () => {
    expect(() => read("{kind: slack, account: tg, channel: C0123456789}")).toThrow(
      "line 6: no channel of this workspace is named tg and is on slack",
    );
    expect(() => read('{kind: slack, account: slack, channel: "#support"}')).toThrow(
      "line 6: workspaces.0.desk.channel",
    );
    expect(() => read("{kind: discord, account: slack, channel: C0123456789}")).toThrow("must be one of slack");
  });
});
