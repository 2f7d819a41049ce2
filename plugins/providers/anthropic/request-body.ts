/** From the engine's request to the body of a message request. */
import type {
  Generation,
  ModelRequest,
  ModelTool,
  ReasoningSettings,
  ToolChoice,
} from '../../execution/models/contract.js'
import { createConversationBytes } from '../streamed/contract.js'
import { searchTool } from './search.js'
import { thinkingBudget, thinksByEffort, usualLimit } from './models.js'
import { wireMessages } from './wire-messages.js'

/** Bytes of the conversations that are kept as they are sent, with and without searches. */
const mostKept = 4 * 1024 * 1024
/** The provider keeps what stands before it for its next call, which costs a tenth then. */
const cached = { cache_control: { type: 'ephemeral' } }
/** How each message ends: with its last block, its list and itself. */
const [messageEnd, cachedEnd] = ['}]}', `,${JSON.stringify(cached).slice(1, -1)}}]}`]

/** Makes the JSON of requests. Earlier messages are the larger part of most and are not made again. */
export const createRequestBodies = (): ((request: ModelRequest) => Buffer) => {
  const plain = createConversationBytes((message) => wireMessages(message, false), mostKept)
  const searching = createConversationBytes((message) => wireMessages(message, true), mostKept)
  return (request) => {
    const conversations = request.web_search === true ? searching : plain
    const said = conversations.of(request.messages)
    return Buffer.concat([
      Buffer.from(`${JSON.stringify(settingsOf(request)).slice(0, -1)},"messages":[`),
      ...(said.length === 0 ? [] : [said.subarray(0, -messageEnd.length), Buffer.from(cachedEnd)]),
      Buffer.from(']}'),
    ])
  }
}

const settingsOf = ({ model, system, generation, ...request }: ModelRequest): object => {
  const tools = [...request.tools.map(wireTool), ...(request.web_search === true ? [searchTool] : [])]
  const thinking = thinkingOf(model, generation.reasoning)
  return {
    model,
    max_tokens: (generation.max_output_tokens ?? usualLimit(model)) + (extraOf(thinking, generation) ?? 0),
    temperature: generation.temperature,
    thinking,
    output_config: outputConfig(model, generation),
    // What the system prompt ends is kept with the tools, which stand before it.
    ...(system !== '' && { system: [{ type: 'text', text: system, ...cached }] }),
    ...(tools.length > 0 && { tools, tool_choice: toolChoice(generation) }),
    stream: true,
  }
}

const wireTool = ({ name, description, parameters }: ModelTool): object => ({
  name,
  description,
  input_schema: parameters,
})

const choices = { auto: 'auto', none: 'none', required: 'any' } as const

const toolChoice = ({ tool_choice, allow_parallel_tool_calls }: Generation): object | undefined => {
  const one = allow_parallel_tool_calls === false && tool_choice?.type !== 'none'
  if (tool_choice === undefined && !one) return undefined
  return { ...choiceOf(tool_choice), ...(one && { disable_parallel_tool_use: true }) }
}

const choiceOf = (choice: ToolChoice = { type: 'auto' }): object =>
  choice.type === 'specific' ? { type: 'tool', name: choice.name } : { type: choices[choice.type] }

interface Thinking {
  readonly type: 'adaptive' | 'disabled' | 'enabled'
  readonly budget_tokens?: number
}

const thinkingOf = (model: string, { effort, budget_tokens }: ReasoningSettings = {}): Thinking | undefined => {
  if (budget_tokens !== undefined) return { type: 'enabled', budget_tokens }
  if (effort === undefined) return undefined
  if (effort === 'none') return { type: 'disabled' }
  return thinksByEffort(model) ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: thinkingBudget[effort] }
}

/** The limit of an answer counts what was thought too: what somebody set is meant for the answer. */
const extraOf = (thinking: Thinking | undefined, { max_output_tokens }: Generation): number | undefined =>
  max_output_tokens === undefined ? undefined : thinking?.budget_tokens

const efforts = { minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh' } as const

const outputConfig = (model: string, { reasoning, response_format: format }: Generation): object | undefined => {
  const effort = reasoning?.effort
  const config = {
    ...(effort !== undefined && effort !== 'none' && thinksByEffort(model) && { effort: efforts[effort] }),
    ...(format?.type === 'structured_json' && { format: { type: 'json_schema', schema: format.schema } }),
  }
  return Object.keys(config).length === 0 ? undefined : config
}
