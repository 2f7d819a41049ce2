/** From the engine's request to the body of a question for content. */
import type {
  Generation,
  ModelRequest,
  ModelTool,
  ReasoningSettings,
  ToolChoice,
} from '../../execution/models/contract.js'
import { createConversationBytes } from '../streamed/contract.js'
import { search } from './search.js'
import { isLeveled, largestAnswer, thinkingBudget, thinkingLevel } from './models.js'
import { wireMessages, type WireOptions } from './wire-messages.js'

/** Bytes of the conversations that are kept as they are sent. */
const mostKept = 8 * 1024 * 1024

/** Makes the JSON of requests. Earlier messages are the larger part of most and are not made again. */
export const createRequestBodies = (): ((request: ModelRequest) => Buffer) => {
  const form = (options: WireOptions) => createConversationBytes(wireMessages(options), mostKept)
  const newer = form({ mustSign: true, searches: false })
  const searching = form({ mustSign: true, searches: true })
  const older = form({ mustSign: false, searches: false })
  return (request) => {
    const conversations = isSearching(request) ? searching : isLeveled(request.model) ? newer : older
    const said = conversations.of(request.messages)
    const settings = JSON.stringify(settingsOf(request))
    return Buffer.concat([Buffer.from(`${settings.slice(0, -1)},"contents":[`), said, Buffer.from(']}')])
  }
}

/** Older models refuse the search beside functions. */
const isSearching = ({ model, web_search }: ModelRequest): boolean => web_search === true && isLeveled(model)

const settingsOf = (request: ModelRequest): object => {
  const { model, system, tools, generation } = request
  const functions = tools.length === 0 ? [] : [{ functionDeclarations: tools.map(declaration) }]
  const own = isSearching(request) ? [search.tool] : []
  return {
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    ...(functions.length + own.length > 0 && {
      tools: [...own, ...functions],
      toolConfig: own.length > 0 ? searchConfig(request) : toolConfig(generation.tool_choice),
    }),
    generationConfig: generationConfig(model, generation),
  }
}

/** Beside a search the usual mode of functions is another one. */
const searchConfig = ({ tools, generation: { tool_choice } }: ModelRequest): object => ({
  ...(tools.length > 0 && {
    functionCallingConfig: { mode: 'VALIDATED' },
    ...(tool_choice?.type !== 'auto' && toolConfig(tool_choice)),
  }),
  ...search.told,
})

const declaration = ({ name, description, parameters }: ModelTool): object => ({
  name,
  description,
  parametersJsonSchema: parameters,
})

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const

const toolConfig = (choice: ToolChoice | undefined): object | undefined =>
  choice && {
    functionCallingConfig:
      choice.type === 'specific' ? { mode: 'ANY', allowedFunctionNames: [choice.name] } : { mode: modes[choice.type] },
  }

const generationConfig = (model: string, generation: Generation): object => {
  const thinkingConfig = thinkingOf(model, generation.reasoning)
  const { max_output_tokens: limit, temperature, response_format: format } = generation
  return {
    maxOutputTokens: limit && withThoughts(limit, thinkingConfig?.thinkingBudget ?? 0),
    temperature,
    thinkingConfig,
    ...(format?.type === 'structured_json' && {
      responseMimeType: 'application/json',
      responseJsonSchema: format.schema,
    }),
  }
}

/** The limit of an answer counts what was thought too: what somebody set is meant for the answer. */
const withThoughts = (limit: number, thought: number): number =>
  Math.max(limit, Math.min(limit + thought, largestAnswer))

interface Thinking {
  readonly includeThoughts?: true
  readonly thinkingBudget?: number
  readonly thinkingLevel?: string
}

/** A budget of none is what the vendor refuses where a model cannot do without. */
const thinkingOf = (model: string, { effort, budget_tokens }: ReasoningSettings = {}): Thinking | undefined => {
  if (budget_tokens !== undefined) return { includeThoughts: true, thinkingBudget: budget_tokens }
  if (effort === undefined) return undefined
  if (effort === 'none') return { thinkingBudget: 0 }
  return isLeveled(model)
    ? { includeThoughts: true, thinkingLevel: thinkingLevel[effort] }
    : { includeThoughts: true, thinkingBudget: thinkingBudget[effort] }
}
