import { useRef, useState } from "preact/hooks";
import { Dialog, closeDialog } from "#web/shared/ui/dialog.tsx";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { CopyButton, CopyField } from "#web/dashboard/ui/copy.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { Badge } from "#web/dashboard/ui/marks.tsx";

export interface SecondFactorState {
  readonly on: boolean;
  readonly has_password: boolean;
  readonly recovery_codes_left: number;
}

interface Setup {
  readonly secret: string;
  readonly qr_svg: string;
  readonly setup: string;
}

interface RecoveryCodes {
  readonly recovery_codes: readonly string[];
}

type Open =
  | { readonly kind: "begin" | "renew" | "remove" }
  | { readonly kind: "scan"; readonly made: Setup }
  | { readonly kind: "codes"; readonly codes: readonly string[] };

export function SecondFactor(props: { readonly state: SecondFactorState; readonly changed: () => Promise<void> }) {
  const { state, changed } = props;
  const [open, setOpen] = useState<Open>();
  const button = (label: string, kind: "begin" | "renew" | "remove") => (
    <Button label={label} kind={kind === "begin" ? "primary" : "secondary"} onClick={() => setOpen({ kind })} />
  );
  return (
    <>
      {!state.has_password && <p>Set a password first.</p>}
      {state.has_password && !state.on && <div class="row-actions">{button("Set up", "begin")}</div>}
      {state.on && (
        <>
          <p>
            <Badge tone="good">On</Badge> Recovery codes left: {state.recovery_codes_left}.
          </p>
          <div class="row-actions">
            {button("New recovery codes", "renew")}
            {button("Turn off", "remove")}
          </div>
        </>
      )}
      {open !== undefined && <OpenDialog key={open.kind} open={open} setOpen={setOpen} changed={changed} />}
    </>
  );
}

function OpenDialog(props: {
  readonly open: Open;
  readonly setOpen: (open: Open | undefined) => void;
  readonly changed: () => Promise<void>;
}) {
  const { open, setOpen, changed } = props;
  /** Opens when this dialog has closed. */
  const next = useRef<Open | undefined>(undefined);
  const closed = (): void => setOpen(next.current);
  const codes = (made: RecoveryCodes): void => void (next.current = { kind: "codes", codes: made.recovery_codes });
  switch (open.kind) {
    case "begin":
      return (
        <PasswordDialog
          title="Set up a second factor"
          label="Continue"
          send={async (body) => {
            next.current = { kind: "scan", made: await api.post<Setup>("me/second-factor", body) };
          }}
          closed={closed}
        />
      );
    case "scan":
      return (
        <ScanDialog
          made={open.made}
          confirmed={async (made) => {
            await changed();
            codes(made);
          }}
          closed={closed}
        />
      );
    case "renew":
      return (
        <PasswordDialog
          title="Make new recovery codes"
          label="Replace the codes"
          about="The codes that you have no longer work."
          send={async (body) => {
            const made = await api.post<RecoveryCodes>("me/second-factor/recovery-codes", body);
            await changed();
            codes(made);
          }}
          closed={closed}
        />
      );
    case "remove":
      return (
        <PasswordDialog
          title="Turn the second factor off"
          label="Turn off"
          about="Your password alone will sign in."
          isDangerous
          send={async (body) => {
            await api.post("me/second-factor/remove", body);
            await changed();
          }}
          closed={closed}
        />
      );
    case "codes":
      return <CodesDialog codes={open.codes} closed={closed} />;
  }
}

const PasswordDialog = (props: {
  readonly title: string;
  readonly label: string;
  readonly about?: string;
  readonly isDangerous?: boolean;
  readonly send: (body: { readonly password: string }) => Promise<void>;
  readonly closed: () => void;
}) => (
  <FormDialog
    title={props.title}
    label={props.label}
    initial={{ password: "" }}
    isDangerous={props.isDangerous ?? false}
    send={props.send}
    closed={props.closed}
  >
    {(form) => (
      <>
        {props.about !== undefined && <p class="dialog-text">{props.about}</p>}
        <TextField
          of={form.field("password")}
          label="Your password"
          type="password"
          autocomplete="current-password"
          required
        />
      </>
    )}
  </FormDialog>
);

const ScanDialog = (props: {
  readonly made: Setup;
  readonly confirmed: (made: RecoveryCodes) => Promise<void>;
  readonly closed: () => void;
}) => (
  <FormDialog
    title="Scan the code"
    label="Turn on"
    initial={{ code: "" }}
    send={async ({ code }) =>
      props.confirmed(
        await api.post<RecoveryCodes>("me/second-factor/confirm", { setup: props.made.setup, code: code.trim() }),
      )
    }
    closed={props.closed}
  >
    {(form) => (
      <>
        <p class="dialog-text">Scan it with an authenticator app, and enter the six digits that the app shows.</p>
        <img
          class="qr-code"
          alt="QR code for your authenticator app"
          src={`data:image/svg+xml,${encodeURIComponent(props.made.qr_svg)}`}
        />
        <TextField
          of={form.field("code")}
          label="Six digits"
          autocomplete="one-time-code"
          required
          maxLength={10}
          mono
        />
        <CopyField label="Or type this key" value={props.made.secret} />
      </>
    )}
  </FormDialog>
);

const CodesDialog = ({ codes, closed }: { readonly codes: readonly string[]; readonly closed: () => void }) => (
  <Dialog title="Your recovery codes" closed={closed} mayClose={() => false}>
    <p class="dialog-text">
      Each of them signs in once, if you lose your phone. Keep them where your phone is not: they are not shown again.
    </p>
    <ul class="recovery-codes" aria-label="Recovery codes">
      {codes.map((code) => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
    <div class="form-actions">
      <CopyButton text={codes.join("\n")} label="Copy all" />
      <Button label="Done" kind="primary" onClick={closeDialog} />
    </div>
  </Dialog>
);
