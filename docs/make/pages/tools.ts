import { inlineSchema, unsafeCast } from '../../../core/base/schema.js'
import { Tools, type Tool } from '../../../plugins/execution/tools/contract.js'
import type { Facts } from '../gather.js'
import { anchor, code, fieldTable, page, table } from '../markdown.js'

interface Shipped {
  readonly plugin: string
  readonly tool: Tool
}

const shippedTools = ({ plugins }: Facts): Shipped[] =>
  plugins
    .flatMap(({ plugin: { id }, declared }) =>
      declared.contributions
        .filter(({ point }) => point === Tools.point)
        .map(({ value }) => ({ plugin: id, tool: unsafeCast<Tool>(value) })),
    )
    .toSorted((a, b) => (a.tool.name < b.tool.name ? -1 : 1))

const sectionOf = ({ plugin, tool }: Shipped): string[] => [
  `## ${tool.name}`,
  tool.description,
  [
    `- plugin: [${plugin}](plugins.md#${anchor(plugin)})`,
    `- effect: ${tool.effect}`,
    `- reaches: ${tool.sandbox.replace('_', ' ')}`,
    `- ends after: ${tool.timeout_ms / 1000} s`,
    ...(tool.in_plan_mode === true ? ['- also while a session plans'] : []),
  ].join('\n'),
  fieldTable(inlineSchema(tool.input)) || 'It takes nothing.',
]

export const toolsPage = (facts: Facts): string => {
  const tools = shippedTools(facts)
  return page(
    '# Tools',
    'What the shipped tools do and what they take: what a model may call, and `/tool NAME {json}` of the demo model. ' +
      'Tools of MCP servers and of other plugins come beside them. A `read` may be repeated; an `idempotent` call ' +
      'has one effect however often it is made; a `once` is never repeated. Who decides whether a call is made stands in ' +
      '[the rules](../rules/tools.md).',
    table(
      ['tool', 'effect', 'plugin'],
      tools.map(({ plugin, tool }) => [`[${code(tool.name)}](#${anchor(tool.name)})`, tool.effect, plugin]),
    ),
    ...tools.map(sectionOf),
  )
}
