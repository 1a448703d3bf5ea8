import { Link, href } from "../../app/router";
import { isAdmin, session } from "../../app/session";
import { useTitle } from "../../app/title";
import { Health } from "./health";
import { Limits } from "./limits";
import { Logs } from "./logs";
import { Tokens } from "./tokens";

/** The server: its health and measurements, settings, logs of tables and tokens. */
export default function ServerView({ rest: [wanted = ""] }: { rest: string[] }) {
  useTitle("Server");
  const parts: [string, string][] = [["", "Health"], ["limits", "Settings"], ["logs", "Logs"]];
  if (isAdmin.value) parts.push(["tokens", "Tokens"]);
  const part = parts.some(([at]) => at === wanted) ? wanted : "";
  return (
    <div class="view">
      <header class="bar-row">
        <h1>Server</h1>
        <span class="muted">manyworlds {session.value?.version}</span>
      </header>
      <nav class="tabs" aria-label="Parts of the server">
        {parts.map(([at, title]) => (
          <Link key={at} to={href(at === "" ? ["settings"] : ["settings", at])} aria-current={at === part ? "page" : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      {part === "" && <Health />}
      {part === "limits" && <Limits />}
      {part === "logs" && <Logs />}
      {part === "tokens" && isAdmin.value && <Tokens />}
    </div>
  );
}
