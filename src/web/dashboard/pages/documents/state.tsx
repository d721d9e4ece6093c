import { Badge, ProgressBar } from "#web/dashboard/ui/marks.tsx";
import type { KnowledgeDocument } from "./documents.ts";
import { isBusy } from "./documents.ts";

/** The state of a document: whether the bot uses it, how far it is read, and why it is not. */
export function DocumentState({ of: document }: { readonly of: KnowledgeDocument }) {
  const { status, error } = document;
  return (
    <div class="document-state">
      {isBusy(document) ? (
        <Badge tone="wait">{document.kind === "website" ? "Reading pages" : "Reading"}</Badge>
      ) : status === "failed" ? (
        <Badge tone="bad">Failed</Badge>
      ) : (
        <Badge tone="good">In use</Badge>
      )}
      {isBusy(document) && <CrawlProgress of={document} />}
      <PartlyRead of={document} />
      {error !== null && <p class="document-error">{error}</p>}
    </div>
  );
}

function CrawlProgress({ of: { title, progress } }: { readonly of: KnowledgeDocument }) {
  if (progress === null || progress.found === 0) return null;
  const { found, queued, kept, failed } = progress;
  const failures = failed === 0 ? "" : `, ${failed} failed`;
  return (
    <div>
      <ProgressBar label={`Pages of ${title}`} share={(found - queued) / found} />
      <p class="hint">{`${found - queued} of ${found} visited, ${kept} in use${failures}`}</p>
    </div>
  );
}

/** The reason stands beside each page. */
function PartlyRead({ of: { progress } }: { readonly of: KnowledgeDocument }) {
  const partly = progress?.partly ?? 0;
  if (partly === 0) return null;
  return <p class="hint">{`Little was read of ${partly === 1 ? "1 page" : `${partly} pages`}`}</p>;
}

/** The tags of customers who get answers from a document. */
export function Audience({ tags }: { readonly tags: readonly string[] }) {
  if (tags.length === 0) return <span class="soft">Everyone</span>;
  return (
    <ul class="tags plain-tags">
      {tags.map((tag) => (
        <li key={tag} dir="auto">
          {tag}
        </li>
      ))}
    </ul>
  );
}
