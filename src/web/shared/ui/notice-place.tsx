import { Button } from "./elements.tsx";
import type { Notice, Notices } from "./notices.ts";

/** The notice that is shown, and announcements for screen readers. A new key makes them read an equal text again. */
export function NoticePlace({ notices }: { readonly notices: Notices }) {
  const { shown, announced } = notices;
  return (
    <>
      <div class="notices" role="status" aria-live="polite">
        {shown.value !== undefined && (
          <NoticeLine key={shown.value.number} notice={shown.value} followed={notices.clear} />
        )}
      </div>
      <div class="unseen" role="log" aria-live="polite">
        {announced.value !== undefined && <p key={announced.value.number}>{announced.value.text}</p>}
      </div>
    </>
  );
}

/** `followed`: its link was clicked. */
function NoticeLine({ notice, followed }: { readonly notice: Notice; readonly followed: (notice: Notice) => void }) {
  const { kind, text, action } = notice;
  return (
    <p class={`notice ${kind}`}>
      <span>{text}</span>{" "}
      {action !== undefined && "run" in action && (
        <Button
          label={action.label}
          {...(action.shortcut !== undefined && { shortcut: action.shortcut })}
          onClick={action.run}
        />
      )}
      {action !== undefined && "href" in action && (
        <a href={action.href} onClick={() => followed(notice)}>
          {action.label}
        </a>
      )}
    </p>
  );
}
