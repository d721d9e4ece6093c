import type { Command } from "./command.ts";
import {
  agentAway,
  agentBack,
  agentCreate,
  agentList,
  agentLogin,
  agentRemove,
  agentResetSecondFactor,
  agentRole,
} from "./agents.ts";
import {
  keyCreate,
  keyList,
  keyRevoke,
  workspaceCreate,
  workspaceList,
  workspaceRotateSecret,
  workspaceSet,
} from "./workspaces.ts";
import { ask } from "./answers/ask.ts";
import { configApply, configExport } from "./export/config.ts";
import { exportData } from "./export/export.ts";
import { doctor } from "./doctor.ts";
import { evaluate } from "./answers/evaluate.ts";
import { documentsAdd, documentsRecrawl } from "./documents/add.ts";
import { documentsList, documentsRemove } from "./documents/documents.ts";
import { audit, contactMerge, contactShow, contactUnmerge, forget, workspaceDelete } from "./customers.ts";
import { rulesTest } from "./rules.ts";
import { searchCalibrate, searchRebuild } from "./search.ts";
import { migrate, start } from "./start.ts";
import {
  webhookAdd,
  webhookDeliveriesList,
  webhookDisable,
  webhookEnable,
  webhookList,
  webhookRemove,
  webhookReplay,
  webhookRotate,
  webhookTest,
} from "./webhooks.ts";

/** Commands that use the file's workspaces, so the whole file has to be valid. */
export const usesWorkspaces: ReadonlySet<Command> = new Set([start, doctor, rulesTest]);

export const commands: Readonly<Record<string, Command>> = {
  start,
  migrate,
  doctor,
  ask,
  evaluate,
  "workspace create": workspaceCreate,
  "workspace list": workspaceList,
  "workspace set": workspaceSet,
  "workspace rotate-secret": workspaceRotateSecret,
  "workspace delete": workspaceDelete,
  "key create": keyCreate,
  "key list": keyList,
  "key revoke": keyRevoke,
  "agent create": agentCreate,
  "agent list": agentList,
  "agent login": agentLogin,
  "agent remove": agentRemove,
  "agent reset-second-factor": agentResetSecondFactor,
  "agent role": agentRole,
  "agent away": agentAway,
  "agent back": agentBack,
  "contact show": contactShow,
  "contact merge": contactMerge,
  "contact unmerge": contactUnmerge,
  audit,
  export: exportData,
  forget,
  "documents add": documentsAdd,
  "documents list": documentsList,
  "documents recrawl": documentsRecrawl,
  "documents remove": documentsRemove,
  "webhook add": webhookAdd,
  "webhook list": webhookList,
  "webhook remove": webhookRemove,
  "webhook enable": webhookEnable,
  "webhook disable": webhookDisable,
  "webhook test": webhookTest,
  "webhook deliveries": webhookDeliveriesList,
  "webhook replay": webhookReplay,
  "webhook rotate": webhookRotate,
  "config export": configExport,
  "config apply": configApply,
  "search rebuild": searchRebuild,
  "search calibrate": searchCalibrate,
  "rules test": rulesTest,
};

export const usage = `parley — a support assistant that answers from your documents and hands over to people

  parley start                       run the server
  parley migrate                     apply pending migrations of the database
  parley doctor                      check configuration, database and connected services

  parley workspace create --name N [--plan free|starter|growth|business|enterprise]
  parley workspace list
  parley workspace set ID key=value… [--force]
                                     for example strictness=helpful auto_resolve_days=3
  parley workspace rotate-secret ID  create a new identity secret, shown once
  parley workspace delete ID [--yes]   delete it with all its data

  parley key create --workspace W --name N [--limit-minute n] [--limit-day n] [--expires ISO]
  parley key list --workspace W
  parley key revoke ID

  parley agent create --workspace W --email E --name N [--role viewer|agent|admin] [--password P]
  parley agent list [--workspace W]
  parley agent login --workspace W --email E   print a single-use sign-in link
  parley agent role --workspace W --email E --role viewer|agent|admin
  parley agent reset-second-factor --workspace W --email E
  parley agent remove --workspace W --email E [--reassign-to E]
  parley agent away|back --workspace W --email E   whether rules assign conversations to them

  parley contact show --workspace W ID|--email E
  parley contact merge --workspace W FROM INTO
  parley contact unmerge --workspace W ID

  parley audit --workspace W [--conversation C] [--since ISO] [--limit n]
  parley export --workspace W [--email E|--contact ID] --out FILE [--force]   FILE -: standard output
  parley forget --workspace W --email E|--contact ID [--yes]   erase a customer

  parley documents add --workspace W [--audience TAG,TAG] [--max-pages n] [--sitemap URL] FILE-or-URL…
  parley documents list --workspace W [--status S]
  parley documents recrawl --workspace W ID…
  parley documents remove --workspace W ID…|--manual

  parley webhook add --workspace W --url U [--events a,b]
  parley webhook list [--workspace W]
  parley webhook remove|enable|disable|test|rotate ID
  parley webhook deliveries [ID] [--workspace W] [--event EVENT_ID] [--failed] [--limit n]
  parley webhook replay EVENT_ID [ID]          or: replay ID --failed, replay ID --since ISO [--until ISO]

  parley config export [--workspace W]   print what the dashboard owns as YAML, without secrets
  parley config apply FILE [--prune]     make it as the file says; --prune removes what it does not name

  parley search rebuild [--workspace W]  rebuild the collections in Typesense
  parley search calibrate [--workspace W]   calibrate the embedding server's model again

  parley rules test --workspace W [--rule NAME] [--conversation C] [--limit n]
                                     show which rules would have fired, and why; changes nothing

  parley ask --workspace W "question"
  parley evaluate --workspace W [--mode strict|helpful] FILE.csv
                                     ask the questions of a file and judge the answers; stores nothing

Every command takes --json. Exit status: 0 done, 1 failed, 2 wrong arguments.
`;
