import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/charts.css";
import "./styles/views.css";
import "./styles/questions.css";
import "./styles/sql.css";
import "./styles/tables.css";
import { render } from "preact";
import { follow } from "./app/live";
import { Shell } from "./app/shell";
import { begin } from "./app/session";

follow();
void begin();
const root = document.getElementById("page");
if (root) render(<Shell />, root);
