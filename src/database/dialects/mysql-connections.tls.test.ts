import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import { parley } from "#test/support/program/program.ts";
import { mysqlServer } from "#test/support/database/mysql-server.ts";
import { startMariaDb, teardown } from "#test/support/services.ts";
import { skipped } from "#test/support/skipped.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const server = mysqlServer();

/** TLS version of the connection, or the error where it failed. */
async function versionBy(url: string): Promise<string> {
  const store = await openStore(url);
  try {
    const { rows } = await sql<Record<string, string>>`show session status like 'Ssl_version'`.execute(store.read);
    return Object.values(rows[0] ?? {})[1] ?? "";
  } catch (error) {
    return error instanceof Error ? error.message : "unknown failure";
  } finally {
    await store.close();
  }
}

if (!hasOpenssl || server.url === undefined) {
  skipped("TLS to MySQL", hasOpenssl ? (server.reason ?? "") : "openssl is not installed");
} else {
  describe("TLS to MySQL", () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-tls-"));
    const ca = join(folder, "ca.pem");
    const otherCa = join(folder, "other-ca.pem");
    let good = "";
    let bad = "";
    let plain = "";

    function openssl(...given: string[]): void {
      const made = spawnSync("openssl", given, { cwd: folder, encoding: "utf8" });
      if (made.status !== 0) throw new Error(made.stderr);
    }

    function makeCa(name: string): void {
      const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", `${name}-key.pem`];
      openssl("req", "-x509", ...key, "-out", `${name}.pem`, "-subj", `/CN=${name}`, "-days", "2");
    }

    /** Settings of a server whose certificate has this name. */
    function certificate(name: string, subject: string): string[] {
      const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", `${name}-key.pem`];
      openssl(
        "req",
        "-x509",
        ...key,
        "-out",
        `${name}.pem`,
        "-subj",
        `/CN=${name}`,
        "-days",
        "2",
        "-addext",
        `subjectAltName=${subject}`,
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca-key.pem",
      );
      return [
        `--ssl-cert=${join(folder, `${name}.pem`)}`,
        `--ssl-key=${join(folder, `${name}-key.pem`)}`,
        `--ssl-ca=${ca}`,
      ];
    }

    beforeAll(async () => {
      makeCa("ca");
      makeCa("other-ca");
      const servers = await Promise.all([
        startMariaDb(certificate("server", "IP:127.0.0.1")),
        startMariaDb(certificate("elsewhere", "DNS:elsewhere.example,DNS:localhost")),
        startMariaDb(["--skip-ssl"]),
      ]);
      [good = "", bad = "", plain = ""] = servers.map(({ url }) => url ?? "");
    });
    afterAll(async () => {
      await teardown();
      rmSync(folder, { recursive: true, force: true });
    });

    it.each([
      ["", /^$/],
      ["?ssl-mode=disabled", /^$/],
      ["?ssl-mode=preferred", /^TLSv1\.[23]$/],
      ["?ssl-mode=required", /^TLSv1\.[23]$/],
      ["?ssl-mode=verify-ca", /certificate/],
      ["?ssl-mode=verify-ca&ssl-ca=CA", /^TLSv1\.[23]$/],
      ["?ssl-mode=verify-ca&ssl-ca=OTHER", /certificate/],
      ["?ssl-mode=verify-ca&ssl-ca=NOTHING", /ssl-ca cannot be read/],
      ["?ssl-mode=verify-identity&ssl-ca=CA", /^TLSv1\.[23]$/],
      ["?ssl-mode=verify-identity&ssl-ca=OTHER", /certificate/],
    ])("with %s", async (options, expected) => {
      const filled = options.replace("CA", ca).replace("OTHER", otherCa).replace("NOTHING", join(folder, "none"));
      const version = versionBy(`${good}${filled}`).catch((error: unknown) => String(error));
      expect(await version).toMatch(expected);
    });

    it("refuses the certificate of another name if ssl-mode verifies the name, by address and by name", async () => {
      expect(await versionBy(`${bad}?ssl-mode=verify-ca&ssl-ca=${ca}`)).toMatch(/^TLSv1/);
      const verified = `?ssl-mode=verify-identity&ssl-ca=${ca}`;
      expect(await versionBy(`${bad}${verified}`)).toMatch(/IP: 127\.0\.0\.1 is not in the cert's list/);
      const byName = (url: string) => versionBy(`${url.replace("127.0.0.1", "localhost")}${verified}`);
      expect(await byName(bad)).toMatch(/^TLSv1/);
      expect(await byName(good)).toMatch(/altnames/);
    });

    it("is shown by doctor; an unknown option is refused", async () => {
      const doctor = async (url: string) => {
        const ran = await parley(["doctor"], { DATABASE_URL: url, PARLEY_DATA_DIR: join(folder, "data") });
        return ran.stdout + ran.stderr;
      };
      const verified = await doctor(`${good}?ssl-mode=verify-identity&ssl-ca=${ca}`);
      expect(verified).toMatch(/✓ database: 127\.0\.0\.1:\d+, encrypted with TLSv1\.3, TLS_AES_\w+/);
      expect(await doctor(plain)).toContain(", not encrypted (see ssl-mode)");
      expect(await doctor(`${good}?sslmode=required`)).toContain(
        "DATABASE_URL: unknown option sslmode, did you mean ssl-mode?",
      );
    });

    it("doctor names a certificate's fault and its remedy", async () => {
      const notCa = join(folder, "not-ca.pem");
      writeFileSync(notCa, "no certificate\n");
      const found = async (url: string) => {
        const ran = await parley(["doctor", "--json"], { DATABASE_URL: url, PARLEY_DATA_DIR: join(folder, "data") });
        const { checks } = JSON.parse(ran.stdout) as { checks: { name: string; ok: boolean; detail: string }[] };
        const { ok, detail } = checks.find(({ name }) => name === "database") ?? {};
        expect(ok).toBe(false);
        return detail;
      };
      const unsigned = /^127\.0\.0\.1:\d+ answers, but its certificate is refused: set ssl-ca in DATABASE_URL/;
      expect(await found(`${good}?ssl-mode=verify-ca`)).toMatch(unsigned);
      expect(await found(`${good}?ssl-mode=verify-ca&ssl-ca=${otherCa}`)).toMatch(unsigned);
      expect(await found(`${bad}?ssl-mode=verify-identity&ssl-ca=${ca}`)).toMatch(
        /answers, but its certificate is refused: DATABASE_URL must name a host .* ssl-mode=verify-ca/,
      );
      expect(await found(`${plain}?ssl-mode=required`)).toMatch(/answers, but it has no TLS: .* ssl-mode=preferred/);
      expect(await found(`${good}?ssl-mode=verify-ca&ssl-ca=${notCa}`)).toBe(
        `DATABASE_URL: the file of ssl-ca, ${notCa}, holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----`,
      );
      expect(await found(`${good}?ssl-mode=verify-ca&ssl-ca=${join(folder, "none")}`)).toMatch(
        /^DATABASE_URL: the file of ssl-ca cannot be read: ENOENT/,
      );
    });

    it("falls back to plain text if preferred and unsupported by the server, and fails if required", async () => {
      expect(await versionBy(`${plain}?ssl-mode=preferred`)).toBe("");
      expect(await versionBy(`${plain}?ssl-mode=required`)).toMatch(/does not support secure connection/);
    });
  });
}
