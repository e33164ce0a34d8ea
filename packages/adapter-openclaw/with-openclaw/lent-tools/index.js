// A plugin for the gateway of the suite. Each case has a hub and an agent of its own, in the process
// of the suite: there the tools of the plugin under test run, and here the gateway's agents use them.

/** How a line of the answer is read: `{update}`, `{result}` or `{failure}`. */
async function used(address, call, signal, onUpdate) {
  const request = { method: "POST", body: JSON.stringify(call), signal };
  const response = await fetch(address, request);
  let rest = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { update, result, failure } = JSON.parse(line);
      if (failure !== undefined) throw new Error(failure);
      if (result !== undefined) return result;
      onUpdate?.(update);
    }
  }
  throw new Error("The suite has hung up.");
}

const plugin = {
  id: "lent-tools",
  name: "Lent tools",
  description: "The tools of the plugin under test, which run in the process of the suite.",
  register(api) {
    const { switchboard, tools } = api.pluginConfig;
    for (const tool of tools) {
      const lent = ({ sessionKey }) => ({
        ...tool,
        execute: (toolCallId, given, signal, onUpdate) => {
          const address = `${switchboard}/tools/${encodeURIComponent(sessionKey)}`;
          const call = { sessionKey, name: tool.name, toolCallId, given };
          return used(address, call, signal, onUpdate);
        },
      });
      api.registerTool(lent, { name: tool.name });
    }
  },
};
export default plugin;
