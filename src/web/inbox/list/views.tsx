import type { View } from "#http/inbox/wire.ts";
import { views } from "#http/inbox/wire.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { hashOf } from "#web/inbox/store/address.ts";
import { Icon } from "#web/shared/ui/elements.tsx";
import { viewIcons, viewNames } from "#web/inbox/ui/labels.ts";

/** The server counts no further. */
const countMax = 100;

export function Views() {
  const { list, dialog } = useInbox();
  const { view, counts } = list;
  const skipped = counts.value?.skippedMessages ?? 0;
  return (
    <nav class="views" aria-label="Views">
      {views.map((name) => {
        const isCounted = name !== "claimed" && name !== "resolved" && name !== "all";
        return (
          <ViewLink
            key={name}
            view={name}
            count={(isCounted ? counts.value?.[name] : undefined) ?? 0}
            isCurrent={name === view.value}
          />
        );
      })}
      {skipped > 0 && (
        <button type="button" onClick={() => (dialog.value = { kind: "skipped-messages" })}>
          <Icon name="skip" />
          <span class="view-name">Skipped mail</span>
          <Count value={skipped} noun="mail" />
        </button>
      )}
    </nav>
  );
}

interface ViewLinkProps {
  readonly view: View;
  readonly count: number;
  readonly isCurrent: boolean;
}

const ViewLink = ({ view, count, isCurrent }: ViewLinkProps) => (
  <a href={hashOf(view)} aria-current={isCurrent ? "page" : undefined} data-view={view}>
    <Icon name={viewIcons[view]} />
    <span class="view-name">{viewNames[view]}</span>
    {count > 0 && <Count value={count} noun="conversation" />}
  </a>
);

const Count = ({ value, noun }: { readonly value: number; readonly noun: string }) => (
  <span class="count" aria-label={`${value >= countMax ? "100 or more" : value} ${value === 1 ? noun : `${noun}s`}`}>
    {value >= countMax ? "99+" : value}
  </span>
);
