/** Puts a prompt together: what the model is told first, the conversation, and its tools (prompt-1). */
import { wholeSchema } from '../../../../core/plugin.js'
import type { Generation, ModelMessage, ModelRequest, ModelTool, SystemSubject } from '../../models/contract.js'
import type { RunRecord } from '../../runs/contract.js'
import { nativeWebSearch, type Tool, type ToolRegistry } from '../../tools/contract.js'
import { systemPrompt, type PromptParts } from './system-prompt.js'

const described = new WeakMap<Tool, ModelTool>()
const describe = (tool: Tool): ModelTool => {
  const known = described.get(tool)
  if (known !== undefined) return known
  const description = { name: tool.name, description: tool.description, parameters: wholeSchema(tool.input) }
  described.set(tool, description)
  return description
}

/** What a prompt is put together of. */
export interface Asked {
  readonly messages: readonly ModelMessage[]
  readonly shown: SystemSubject['shown']
  readonly generation: Generation
  /** The server of the model can search the web. */
  readonly searches?: boolean
}

export const assemble = (
  context: PromptParts & { readonly tools: ToolRegistry },
  { run_id, session_id, text_preview, model, pinned: pins }: RunRecord,
  { messages, shown, generation, searches = false }: Asked,
): ModelRequest => {
  const seen = context.tools.list(session_id)
  const isAllowed = searches && context.tools.passes(nativeWebSearch, { session_id, pins })
  // One search is enough: two of one name are refused.
  const tools = isAllowed ? seen.filter(({ name }) => name !== nativeWebSearch.name) : seen
  return {
    model,
    system: systemPrompt(context, { run_id, session_id, text_preview, ...(shown !== undefined && { shown }) }),
    messages,
    tools: tools.map(describe),
    ...(isAllowed && { web_search: true }),
    generation,
  }
}
