import { sizeText } from "#domain/files.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { Button, FileName, Icon } from "#web/shared/ui/elements.tsx";
import type { Upload } from "./uploads.ts";

/** The files that are sent with the reply. */
export function Tray({ conversationId }: { readonly conversationId: string }) {
  const { drafts, uploads } = useInbox();
  const { files } = drafts.read(conversationId);
  const pending = uploads.of(conversationId);
  return (
    <ul class="tray" aria-label="Files to send" hidden={files.length + pending.length === 0}>
      {files.map(({ id, name, bytes }) => (
        <li key={id}>
          <Icon name="page" />
          <FileName name={name} />
          <span class="file-size">{sizeText(bytes)}</span>
          <RemoveButton name={name} remove={() => uploads.remove(conversationId, id)} />
        </li>
      ))}
      {pending.map((upload) => (
        <UploadLine key={upload.number} upload={upload} />
      ))}
    </ul>
  );
}

function UploadLine({ upload }: { readonly upload: Upload }) {
  const { uploads } = useInbox();
  const { file, problem, share } = upload;
  const hasFailed = problem !== undefined;
  return (
    <li class={hasFailed ? "problem" : undefined} role={hasFailed ? "alert" : undefined}>
      <Icon name={hasFailed ? "alert" : "page"} />
      <FileName name={file.name} />
      {hasFailed ? (
        <>
          <span class="file-size">Not attached: {problem}</span>
          <Button label="Try again" kind="secondary" onClick={() => uploads.retry(upload)} />
        </>
      ) : (
        <progress max={1} value={share} aria-label={`Uploading ${file.name}`} />
      )}
      <RemoveButton name={file.name} remove={() => uploads.cancel(upload)} />
    </li>
  );
}

const RemoveButton = ({ name, remove }: { readonly name: string; readonly remove: () => void }) => (
  <Button label={`Remove ${name}`} kind="icon" shape="close" onClick={remove} />
);
