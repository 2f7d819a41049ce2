/** Puts a prompt together: what the model is told first, the conversation, and its tools (prompt-1). */
import type { ContextWindow, Generation, ModelMessage, ModelRequest, SystemSubject } from '../../models/contract.js'
import type { RunRecord } from '../../runs/contract.js'
import { nativeWebSearch, type ToolRegistry } from '../../tools/contract.js'
import { shownTools } from './shown-tools.js'
import { systemPrompt, type PromptParts } from './system-prompt.js'

/** What a prompt is put together of. */
export interface Asked {
  readonly messages: readonly ModelMessage[]
  readonly shown: SystemSubject['shown']
  readonly generation: Generation
  /** The server of the model can search the web. */
  readonly searches?: boolean
  /** Of the model; undefined where it has no bound. */
  readonly window: ContextWindow | undefined
}

export const assemble = (
  context: PromptParts & { readonly tools: ToolRegistry },
  { run_id, session_id, text_preview, model, pinned: pins }: RunRecord,
  { messages, shown, generation, searches = false, window }: Asked,
): ModelRequest => {
  const seen = context.tools.list(session_id)
  const isAllowed = searches && context.tools.passes(nativeWebSearch, { session_id, pins })
  // One search is enough: two of one name are refused.
  const tools = isAllowed ? seen.filter(({ name }) => name !== nativeWebSearch.name) : seen
  return {
    model,
    system: systemPrompt(context, { run_id, session_id, text_preview, ...(shown !== undefined && { shown }) }),
    messages,
    tools: shownTools(tools, window),
    ...(isAllowed && { web_search: true }),
    generation,
  }
}
