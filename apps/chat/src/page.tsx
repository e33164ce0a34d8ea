// The page: a chat, with the progress of the agents behind it.
import { useChat } from "@ai-sdk/react";
import { lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import type { UIMessage } from "ai";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import type { ReactElement } from "react";
import type { RemoteOutput } from "@waybill/adapter-ai-sdk";

// #region remote
/** What an agent somewhere on the hub does for this chat. */
function Remote({ output }: { output: RemoteOutput }): ReactElement {
  if (output.waybill === "failed") return <p data-stage="failed">{output.message}</p>;
  if (output.waybill === "done") return <p data-stage="done">{JSON.stringify(output.output)}</p>;
  const { progress, text, question } = output;
  return (
    <div data-stage="working">
      <p data-part="progress">{progress?.message}</p>
      <p data-part="text">{text}</p>
      <p data-part="question">{question?.text}</p>
    </div>
  );
}
// #endregion

type Part = UIMessage["parts"][number];
type Approve = (answer: { id: string; approved: boolean }) => void;

function Shown({ part, approve }: { part: Part; approve: Approve }): ReactElement | null {
  if (part.type === "text") return <p data-part="said">{part.text}</p>;
  if (part.type !== "dynamic-tool") return null;
  if (part.state === "output-available") return <Remote output={part.output as RemoteOutput} />;
  if (part.state !== "approval-requested") return null;
  const { id } = part.approval;
  return <button onClick={() => approve({ id, approved: true })}>Approve</button>;
}

function Chat(): ReactElement {
  const { messages, sendMessage, stop, status, addToolApprovalResponse } = useChat({
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const [text, setText] = useState("");
  return (
    <main data-status={status}>
      {messages.map(({ id, role, parts }) => (
        <section key={id} data-role={role}>
          {parts.map((part, at) => (
            <Shown
              key={at}
              part={part}
              approve={(answer) => void addToolApprovalResponse(answer)}
            />
          ))}
        </section>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void sendMessage({ text });
        }}
      >
        <input value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        <button type="button" onClick={() => void stop()}>
          Stop
        </button>
      </form>
    </main>
  );
}

createRoot(document.getElementById("chat")!).render(<Chat />);
