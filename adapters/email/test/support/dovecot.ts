import { spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { tmpdir, userInfo } from "node:os";
import { createTransport } from "nodemailer";
import { ImapFlow } from "imapflow";
import { freePort } from "#test/support/servers/free-port.ts";

export interface Dovecot {
  readonly imapPort: number;
  readonly password: string;
  /** Delivers a mail to this address by LMTP. */
  deliver(raw: string, to: string): Promise<void>;
  /** Runs `work` on a connection of the mailbox's owner. */
  look<T>(user: string, work: (client: ImapFlow) => Promise<T>): Promise<T>;
  /** Closes all connections of a user. */
  kick(user: string): void;
  /** Renumbers a user's inbox, as after a restored backup: new UIDVALIDITY, new UIDs. */
  renumber(user: string): void;
  close(): Promise<void>;
}

export const dovecotProgram = find("dovecot");
const doveadm = find("doveadm");

/** Sign-in by access token. */
export interface TokenSignIn {
  /** The offered mechanisms: `xoauth2`, `oauthbearer` or both. */
  readonly mechanisms: string;
  /** The address that validates tokens. */
  readonly introspectionUrl: string;
}

/** Starts Dovecot with any user and one password, on its own ports and in a temporary folder. */
export async function startDovecot(tokens?: TokenSignIn): Promise<Dovecot> {
  if (dovecotProgram === undefined || doveadm === undefined) {
    throw new Error("Dovecot is not installed: install dovecot-imapd and dovecot-lmtpd");
  }
  // The path of a socket has at most 107 characters.
  const base = mkdtempSync(join(tmpdir().length > 40 ? "/tmp" : tmpdir(), "dove-"));
  chmodSync(base, 0o755);
  const [imapPort, lmtpPort] = [await freePort(), await freePort()];
  const password = "mailbox-secret-4711";
  const root = userInfo().uid === 0;
  const { username } = userInfo();
  const group = spawnSync("id", ["-gn"], { encoding: "utf8" }).stdout.trim();
  // Run by root, mails belong to Debian's user `mail`.
  const owner = root ? "mail" : username;
  for (const folder of ["run", "state", "mail"]) mkdirSync(join(base, folder));
  if (root) spawnSync("chown", ["mail:mail", join(base, "mail")]);
  const config = join(base, "dovecot.conf");
  const tokenConfig = join(base, "oauth2.conf");
  if (tokens !== undefined) {
    const settings = [
      "introspection_mode = auth",
      `introspection_url = ${tokens.introspectionUrl}`,
      "username_attribute = username",
      "username_format = %Ln",
      "active_attribute = active",
      "active_value = true",
    ];
    writeFileSync(tokenConfig, `${settings.join("\n")}\n`);
  }
  writeFileSync(
    config,
    [
      "protocols = imap lmtp",
      "listen = 127.0.0.1",
      `base_dir = ${base}/run`,
      `state_dir = ${base}/state`,
      `log_path = ${base}/log`,
      "ssl = no",
      "disable_plaintext_auth = no",
      "auth_username_format = %Ln",
      "recipient_delimiter = +",
      "lmtp_save_to_detail_mailbox = no",
      `mail_location = maildir:${base}/mail/%n`,
      "mail_fsync = never",
      "mailbox_list_index = no",
      "first_valid_uid = 1",
      "first_valid_gid = 1",
      "mail_max_userip_connections = 100",
      ...(root
        ? []
        : [
            `default_internal_user = ${username}`,
            `default_internal_group = ${group}`,
            `default_login_user = ${username}`,
          ]),
      ...(tokens === undefined
        ? []
        : [
            `auth_mechanisms = plain ${tokens.mechanisms}`,
            "auth_failure_delay = 0",
            "passdb {",
            "  driver = oauth2",
            `  mechanisms = ${tokens.mechanisms}`,
            `  args = ${tokenConfig}`,
            "}",
          ]),
      "passdb {",
      "  driver = static",
      "  mechanisms = plain login",
      `  args = password=${password}`,
      "}",
      "userdb {",
      "  driver = static",
      `  args = uid=${owner} gid=${root ? "mail" : group} home=${base}/mail/%n allow_all_users=yes`,
      "}",
      "namespace inbox {",
      "  inbox = yes",
      "  mailbox Sent {",
      "    special_use = \\Sent",
      "    auto = create",
      "  }",
      "}",
      "service imap-login {",
      "  inet_listener imap {",
      `    port = ${imapPort}`,
      "  }",
      "  inet_listener imaps {",
      "    port = 0",
      "  }",
      "  chroot =",
      "}",
      "service lmtp {",
      "  inet_listener lmtp {",
      `    port = ${lmtpPort}`,
      "  }",
      "  chroot =",
      "}",
      "service anvil {",
      "  chroot =",
      "}",
      "",
    ].join("\n"),
  );
  const server = spawn(dovecotProgram, ["-F", "-c", config], { stdio: "ignore" });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const transport = createTransport({
    host: "127.0.0.1",
    port: lmtpPort,
    lmtp: true,
    ignoreTLS: true,
    logger: false,
  });
  const clientOf = (user: string): ImapFlow => {
    const client = new ImapFlow({
      host: "127.0.0.1",
      port: imapPort,
      secure: false,
      doSTARTTLS: false,
      auth: { user, pass: password },
      logger: false,
      disableAutoIdle: true,
      greetingTimeout: 5_000,
    });
    client.on("error", () => undefined);
    return client;
  };
  const dovecot: Dovecot = {
    imapPort,
    password,
    async deliver(raw, to) {
      await transport.sendMail({ envelope: { from: "sender@elsewhere.example", to: [to] }, raw });
    },
    async look(user, work) {
      const client = clientOf(user);
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.logout().catch(() => undefined);
      }
    },
    kick: (user) => void spawnSync(doveadm, ["-c", config, "kick", user]),
    renumber(user) {
      const folder = join(base, "mail", user);
      const list = join(folder, "dovecot-uidlist");
      const before = Number(/^3 V(\d+)/.exec(readFileSync(list, "utf8"))?.[1]);
      for (const name of readdirSync(folder)) if (name.startsWith("dovecot")) rmSync(join(folder, name));
      writeFileSync(list, `3 V${before + 1_000} N100\n`);
      if (root) spawnSync("chown", ["mail:mail", list]);
    },
    async close() {
      transport.close();
      server.kill("SIGTERM");
      const late = setTimeout(() => server.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(late);
      rmSync(base, { recursive: true, force: true });
    },
  };
  const end = Date.now() + 60_000;
  for (;;) {
    try {
      await dovecot.look("nobody-yet", async () => undefined);
      return dovecot;
    } catch (error) {
      const hasEnded = server.exitCode !== null;
      if (hasEnded || Date.now() > end) {
        const log = existsSync(join(base, "log")) ? readFileSync(join(base, "log"), "utf8").slice(-2_000) : "";
        await dovecot.close();
        const event = hasEnded ? "ended at its start" : "did not start within a minute";
        throw new Error(`Dovecot ${event}: ${log}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function find(name: string): string | undefined {
  for (const folder of [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"]) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}
