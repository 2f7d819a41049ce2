/** Prompts as text, and the files that say how they have to be. `HOLDFAST_GOLDEN=write` writes the files anew. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { ModelMessage, ModelRequest } from '../../plugins/execution/models/contract.js'
import { repository } from './docs.js'

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

export const isGolden = (t: ExecutionContext, name: string, text: string): void => {
  const file = join(repository, 'test', 'golden', 'prompts', `${name}.txt`)
  if (process.env['HOLDFAST_GOLDEN'] === 'write') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  t.true(existsSync(file), `${file} is not there`)
  t.is(text, readFileSync(file, 'utf8'))
}
