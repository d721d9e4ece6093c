import { describe, expect, it } from "vitest";
import { matchTotp, newTotpSecret, totpCode, totpUri } from "./totp.ts";

// The secret of RFC 6238, appendix B: the ASCII text 12345678901234567890.
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

describe("one-time codes", () => {
  it("are those of RFC 6238, appendix B", () => {
    const seconds = [59, 1_111_111_109, 1_111_111_111, 1_234_567_890, 2_000_000_000, 20_000_000_000];
    const codes = ["287082", "081804", "050471", "005924", "279037", "353130"];
    expect(seconds.map((each) => totpCode(secret, each * 1_000))).toEqual(codes);
  });

  it("are valid in their step and its neighbours", () => {
    const now = 1_234_567_890_000;
    const isValid = (offsetS: number): boolean =>
      matchTotp(secret, totpCode(secret, now), now + offsetS * 1_000, null) !== undefined;
    expect([-60, -30, 0, 30, 60].map(isValid)).toEqual([false, true, true, true, false]);
  });

  it("are accepted once, and never after a later one", () => {
    const now = 1_234_567_890_000;
    const step = matchTotp(secret, totpCode(secret, now), now, null) ?? 0;
    expect(matchTotp(secret, totpCode(secret, now), now, step)).toBeUndefined();
    expect(matchTotp(secret, totpCode(secret, now - 30_000), now, step)).toBeUndefined();
    expect(matchTotp(secret, totpCode(secret, now + 30_000), now, step)).toBe(step + 1);
  });

  it("of other lengths or with other characters are refused", () => {
    for (const code of ["", "12345", "1234567", "abcdef", "２８７０８２"]) {
      expect(matchTotp(secret, code, 59_000, null)).toBeUndefined();
    }
  });

  it("have secrets of 160 bits, and an address for authenticator apps", () => {
    const made = newTotpSecret();
    expect(made).toMatch(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.toBe(made);
    expect(totpUri(made, "Shop: a", "a+b@shop.example")).toBe(
      `otpauth://totp/Shop%3A%20a:a%2Bb%40shop.example?secret=${made}&issuer=Shop%3A%20a`,
    );
  });
});
