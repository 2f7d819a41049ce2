/** Prompts as text, and the files that say how they have to be. */
import type { ExecutionContext } from 'ava'
import type { ModelMessage, ModelRequest } from '../../plugins/execution/models/contract.js'
import { isGoldenText } from './golden-text.js'

const partText = (part: ModelMessage['content'][number]): string => {
  switch (part.type) {
    case 'text':
      return part.text
    case 'reasoning':
      return `(thought) ${part.text}`
    case 'search':
      return `(search) ${part.queries.join(', ')}`
    case 'tool_call':
      return `(call ${part.id}) ${part.name} ${JSON.stringify(part.input)}`
    case 'tool_result':
      return `(result ${part.tool_call_id}) ${part.name}${part.is_error ? ' failed' : ''} ${JSON.stringify(part.output)}`
  }
}

/** A whole prompt. Of the tools only those that are named: what others a daemon has is not what is looked at. */
export const promptText = ({ model, system, messages, tools }: ModelRequest, shown: readonly string[] = []): string =>
  [
    `## model\n${model}`,
    `## system\n${system}`,
    ...messages.map(({ role, content }) => `## ${role}\n${content.map(partText).join('\n--\n')}`),
    ...tools
      .filter(({ name }) => shown.includes(name))
      .map(({ name, description, parameters }) => `## tool ${name}\n${description}\n${JSON.stringify(parameters)}`),
  ].join('\n\n') + '\n'

export const isGolden = (t: ExecutionContext, name: string, text: string): void =>
  isGoldenText(t, `prompts/${name}.txt`, text)
