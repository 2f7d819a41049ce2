/** From the engine's request to the body of a question for content. */
import type {
  Generation,
  ModelRequest,
  ModelTool,
  ReasoningSettings,
  ToolChoice,
} from '../../execution/models/contract.js'
import { createConversationBytes } from '../streamed/contract.js'
import { isLeveled, largestAnswer, thinkingBudget, thinkingLevel } from './models.js'
import { wireMessages } from './wire-messages.js'

/** Bytes of the conversations that are kept as they are sent. */
const mostKept = 8 * 1024 * 1024

/** Makes the JSON of requests. Earlier messages are the larger part of most and are not made again. */
export const createRequestBodies = (): ((request: ModelRequest) => Buffer) => {
  const newer = createConversationBytes(wireMessages(true), mostKept)
  const older = createConversationBytes(wireMessages(false), mostKept)
  return (request) => {
    const said = (isLeveled(request.model) ? newer : older).of(request.messages)
    const settings = JSON.stringify(settingsOf(request))
    return Buffer.concat([Buffer.from(`${settings.slice(0, -1)},"contents":[`), said, Buffer.from(']}')])
  }
}

const settingsOf = ({ model, system, tools, generation }: ModelRequest): object => ({
  ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
  ...(tools.length > 0 && {
    tools: [{ functionDeclarations: tools.map(declaration) }],
    toolConfig: toolConfig(generation.tool_choice),
  }),
  generationConfig: generationConfig(model, generation),
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
