import type { DashboardPage } from "#web/dashboard/page.ts";
import { useCanWrite, useQuery } from "#web/dashboard/store.ts";
import { icons } from "#web/dashboard/ui/icons.ts";
import { EditArticle, NewArticle } from "./article.tsx";
import { DocumentPage } from "./document.tsx";
import { DocumentList } from "./list.tsx";

export const documents: DashboardPage = {
  path: "documents",
  label: "Documents",
  about: "Files, websites and articles that the bot answers from.",
  group: "Knowledge",
  icon: icons.documents,
  roles: ["admin", "viewer"],
  render: (id) => <Documents id={id} />,
};

function Documents({ id }: { readonly id: string | undefined }) {
  const [edit] = useQuery("edit");
  const canWrite = useCanWrite();
  if (id === undefined) return <DocumentList />;
  if (id === "new" && canWrite) return <NewArticle />;
  return edit !== "" && canWrite ? <EditArticle id={id} /> : <DocumentPage id={id} />;
}
