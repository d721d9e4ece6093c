import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { fillIn } from "#domain/conversation/reply-placeholders.ts";
import type { MacroAction } from "#domain/workspace/macro.ts";
import { describeMacroAction } from "#domain/workspace/macro.ts";
import type { MacroView } from "#http/inbox/wire.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { newClientId } from "#web/inbox/store/drafts.ts";
import { closeDialog, Dialog } from "#web/shared/ui/dialog.tsx";
import { Button } from "#web/shared/ui/elements.tsx";

export function MacroOpener() {
  const { dialog } = useInbox();
  return (
    <Button
      label="Macros"
      kind="icon"
      shape="layers"
      title="Macros (m)"
      aria-haspopup="dialog"
      onClick={() => (dialog.value = { kind: "macros" })}
    />
  );
}

/** Chooses a macro, shows what it would do, and applies it. */
export function MacroDialog() {
  const { dialog, team } = useInbox();
  const [chosen, setChosen] = useState<MacroView>();
  const [query, setQuery] = useState("");
  useEffect(() => void team.loadMacros(), []);
  const wanted = query.trim().toLowerCase();
  const found = team.macros.value.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <Dialog title={chosen?.name ?? "Apply a macro"} closed={() => (dialog.value = undefined)}>
      {chosen === undefined ? (
        <>
          <input
            type="search"
            dir="auto"
            aria-label="Search macros"
            placeholder="Search macros"
            value={query}
            onInput={({ currentTarget }) => setQuery(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || found[0] === undefined) return;
              event.preventDefault();
              setChosen(found[0]);
            }}
          />
          <ul class="macros">
            {found.map((macro) => (
              <li key={macro.name}>
                <Button label={macro.name} kind="plain" onClick={() => setChosen(macro)} />
              </li>
            ))}
          </ul>
          {found.length === 0 && <p role="status">There is no macro of this name.</p>}
        </>
      ) : (
        <Preview key={chosen.name} macro={chosen} back={() => setChosen(undefined)} />
      )}
    </Dialog>
  );
}

function Preview({ macro, back: goBack }: { readonly macro: MacroView; readonly back: () => void }) {
  const { actions, open, me } = useInbox();
  const clientId = useMemo(newClientId, []);
  const buttons = useRef<HTMLDivElement>(null);
  // The list that had the focus is gone.
  useLayoutEffect(() => {
    const [back, apply] = buttons.current?.querySelectorAll("button") ?? [];
    (apply?.disabled === false ? apply : back)?.focus();
  }, []);
  const names = { customer: open.conversation.value?.customer.name ?? null, agent: me.agent.name };
  return (
    <>
      <ol class="macro-steps" aria-label="What it does">
        {macro.actions.map((action, at) => (
          <li key={at}>
            {describeMacroAction(action)}
            <StepText action={action} fill={(text) => fillIn(text, names)} />
          </li>
        ))}
      </ol>
      {macro.problems.map((problem) => (
        <p key={problem} class="problem" role="alert">
          {problem}
        </p>
      ))}
      <div class="dialog-actions" ref={buttons}>
        <Button label="Back" kind="secondary" onClick={goBack} />
        <Button
          label="Apply"
          kind="primary"
          disabled={macro.problems.length > 0 || actions.busy.value}
          onClick={(event) => {
            closeDialog(event);
            void actions.applyMacro(macro, clientId);
          }}
        />
      </div>
    </>
  );
}

function StepText(props: { readonly action: MacroAction; readonly fill: (text: string) => string }) {
  const { action, fill } = props;
  if (action.kind !== "reply" && action.kind !== "note") return null;
  return (
    <blockquote class="macro-text" dir="auto">
      {action.kind === "reply" ? fill(action.text) : action.text}
    </blockquote>
  );
}
