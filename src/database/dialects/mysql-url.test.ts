import { expect, it } from "vitest";
import { parseMysqlUrl } from "./mysql-url.ts";

it("reads all parts of an address", () => {
  expect(parseMysqlUrl("mysql://us%40er:p%2Fw@[::1]:3307/shop?ssl-mode=verify-ca&ssl-ca=/etc/ca.pem")).toEqual({
    host: "::1",
    port: 3307,
    user: "us@er",
    password: "p/w",
    database: "shop",
    socketPath: undefined,
    sslMode: "verify-ca",
    sslCa: "/etc/ca.pem",
  });
  expect(parseMysqlUrl("mariadb://db/shop")).toMatchObject({ host: "db", port: 3306, sslMode: "disabled" });
});

it.each([
  ["sslmode=required", "unknown option sslmode, did you mean ssl-mode?"],
  ["ssl_ca=/ca.pem", "unknown option ssl_ca, did you mean ssl-ca?"],
  ["ssl=true", "unknown option ssl, did you mean ssl-mode?"],
  ["charset=utf8", "unknown option charset, known are ssl-mode, ssl-ca, socketPath"],
  ["socket=/run/s", "unknown option socket, did you mean socketPath?"],
  ["ssl-mode=on", "ssl-mode is one of disabled, preferred, required, verify-ca, verify-identity"],
  ["ssl-mode=required&ssl-ca=/ca.pem", "ssl-ca needs ssl-mode=verify-ca or ssl-mode=verify-identity"],
  ["ssl-mode=required&ssl-mode=disabled", "option ssl-mode is given twice"],
])("refuses ?%s", (options, message) => {
  expect(() => parseMysqlUrl(`mysql://user:secret@db/shop?${options}`)).toThrow(new Error(message));
});

it.each(["mysql://user:50%secret@db/shop", "mysql://us%er@db/shop", "mysql://db/sh%op"])("refuses %j", (url) => {
  expect(() => parseMysqlUrl(url)).toThrow(
    new Error("use mysql://user:password@host:port/database, with % codes for special characters"),
  );
});
