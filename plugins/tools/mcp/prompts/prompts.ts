/** Prompts of servers, for people: texts that a server wrote, to be read and submitted by who wants them. */
import { redactedTo, type Json, type JsonObject } from '../../../../core/plugin.js'
import type { Oauth } from '../oauth/oauth.js'
import type { Asked, McpServer } from '../servers/mcp-server.js'
import { askedProblem } from '../servers/problem.js'
import { objectsIn, partText, shownWhole } from '../tools/result.js'

/** One that a server lists. */
export interface ListedPrompt {
  readonly name: string
  readonly description?: string
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[]
}

export interface PromptPage {
  readonly prompts: readonly ListedPrompt[]
  readonly next_cursor?: string
}

/** One that was got: what somebody is to say, and how an answer may begin. */
export interface Prompt {
  readonly description?: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
}

export interface PromptParts {
  readonly signal: AbortSignal
  /** Of what a server says. */
  readonly redact: (text: string) => string
  readonly oauth: Pick<Oauth, 'needsLogin'>
}

/** Prompts of one page, arguments of one, messages of one, and characters of a name or a description. */
const [mostPrompts, mostArguments, mostMessages, mostText] = [200, 50, 100, 2_000]

const text = (value: Json | undefined, { redact }: PromptParts): string | undefined =>
  typeof value === 'string' && value !== '' ? redactedTo(value, mostText, redact) : undefined

const described = (item: JsonObject, parts: PromptParts): { readonly description?: string } => {
  const description = text(item['description'], parts) ?? text(item['title'], parts)
  return description === undefined ? {} : { description }
}

type Named = JsonObject & { readonly name: string }

/** The first so many; one whose name would have to be changed could not be asked for. */
const named = (items: readonly JsonObject[], most: number, parts: PromptParts): readonly Named[] => {
  const found: Named[] = []
  for (const item of items) {
    if (found.length === most) break
    const name = text(item['name'], parts)
    if (name !== undefined && name === item['name']) found.push({ ...item, name })
  }
  return found
}

const listedOf = (item: Named, parts: PromptParts): ListedPrompt => ({
  name: item.name,
  ...described(item, parts),
  arguments: named(objectsIn(item, 'arguments'), mostArguments, parts).map((argument) => ({
    name: argument.name,
    ...described(argument, parts),
    required: argument['required'] === true,
  })),
})

/** Throws why there is no answer. */
const answerOf = ({ name }: McpServer, asked: Asked, { oauth }: PromptParts): JsonObject => {
  if (asked.type === 'answered') return asked.result
  throw (asked.type === 'refused' ? undefined : oauth.needsLogin(name)) ?? askedProblem(name, asked)
}

/** A page of what a server lists; none of a server without prompts. Throws what `prompts/list` comes to. */
export const listPrompts = async (
  server: McpServer,
  cursor: string | undefined,
  parts: PromptParts,
): Promise<PromptPage> => {
  const { state, has_prompts } = server.facts()
  if (state === 'connected' && !has_prompts) return { prompts: [] }
  const options = { timeout_ms: server.entry.tool_timeout_sec * 1_000, signal: parts.signal }
  const asked = await server.ask('prompts/list', cursor === undefined ? {} : { cursor }, options)
  const result = answerOf(server, asked, parts)
  const next = result['nextCursor']
  return {
    prompts: named(objectsIn(result, 'prompts'), mostPrompts, parts).map((item) => listedOf(item, parts)),
    ...(typeof next === 'string' && next !== '' && { next_cursor: next }),
  }
}

/** A prompt with its arguments filled in, cut as answers of tools are. Throws what `prompts/get` comes to. */
export const getPrompt = async (
  server: McpServer,
  wish: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
  parts: PromptParts,
): Promise<Prompt> => {
  const options = { timeout_ms: server.entry.tool_timeout_sec * 1_000, signal: parts.signal }
  const result = answerOf(server, await server.ask('prompts/get', { ...wish }, options), parts)
  const messages: Prompt['messages'][number][] = []
  for (const { role, content } of objectsIn(result, 'messages').slice(0, mostMessages))
    messages.push({
      role: role === 'assistant' ? 'assistant' : 'user',
      text: await shownWhole(partText(content ?? null), parts.redact),
    })
  return { ...described(result, parts), messages }
}
