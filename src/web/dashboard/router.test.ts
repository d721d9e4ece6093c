import { describe, expect, it } from "vitest";
import { addressOf, parseAddress } from "./router.ts";

describe("addresses of the dashboard", () => {
  it("name a page and one thing on it", () => {
    for (const [path, page, id] of [
      ["/dashboard", "", undefined],
      ["/dashboard/", "", undefined],
      ["/dashboard/channels", "channels", undefined],
      ["/dashboard/channels/", "channels", undefined],
      ["/dashboard/channels/acc%2F1", "channels", "acc/1"],
      ["/dashboard/channels/a/b", undefined, "a"],
      ["/dashboard/channels/%", undefined, undefined],
    ] as const) {
      expect(parseAddress(new URL(path, "https://shop.example"))).toMatchObject({ page, id });
    }
  });

  it("are built from a page and an id", () => {
    expect([addressOf(""), addressOf("channels"), addressOf("channels", "acc/1")]).toEqual([
      "/dashboard",
      "/dashboard/channels",
      "/dashboard/channels/acc%2F1",
    ]);
  });
});
