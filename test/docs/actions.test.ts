/** What warnings and problems tell people to do: the command lines in them are ones that there are. */
import test from 'ava'
import { allCommands } from '../../core/cli/client-line.js'
import { globals } from '../../core/cli/arguments.js'
import { shipped } from '../../core/shipped.js'
import { sources, type Node } from '../conventions/sources.js'

const commands = await allCommands(shipped)

const keyOf = (property: Node): string | undefined => (property['key'] as { name?: string } | undefined)?.name
const propertiesOf = (node: Node): readonly Node[] =>
  node.type === 'ObjectExpression' ? (node['properties'] as readonly Node[]) : []

/** Every text in a node, joined as it is written. */
const textOf = (node: unknown): string => {
  if (typeof node !== 'object' || node === null) return ''
  if (Array.isArray(node)) return node.map(textOf).join(' ')
  const { type, ...members } = node as Node
  if (type === 'StringLiteral') return ` ${String(members['value'])} `
  if (type === 'TemplateElement') return ` ${(members['value'] as { cooked: string }).cooked} `
  if (type === 'CallExpression' && (members['callee'] as { name?: string }).name === 'commandLine')
    return ` holdfast ${textOf((members['arguments'] as readonly Node[])[0])} `
  return Object.entries(members)
    .filter(([key]) => key !== 'loc' && !key.endsWith('Comments'))
    .map(([, value]) => textOf(value))
    .join('')
}

const actions = sources.flatMap(({ path, nodes }) =>
  nodes
    .filter(({ type, ...node }) =>
      type === 'ObjectProperty'
        ? (node['key'] as { name?: string }).name === 'action'
        : type === 'VariableDeclarator' && (node['id'] as { name?: string }).name === 'action',
    )
    .map((node) => ({ path, line: node.loc?.start.line, text: textOf(node).replaceAll(/\s+/gu, ' ') })),
)

const faultOf = (line: string): string | undefined => {
  const words = line.split(' ')
  if (words[0] === 'serve') return undefined
  const command = commands
    .filter(({ path }) => path.every((word, at) => words[at] === word))
    .toSorted((a, b) => b.path.length - a.path.length)[0]
  if (command === undefined) return `there is no command: holdfast ${line}`
  const strange = words.find(
    (word) => /^--[a-z]/u.test(word) && ![...Object.keys(command.flags ?? {}), ...globals].includes(word.slice(2)),
  )
  if (strange !== undefined) return `holdfast ${command.path.join(' ')} has no flag ${strange}`
  const lacking = (command.needs ?? []).find((flag) => !words.includes(flag))
  if (lacking !== undefined) return `holdfast ${command.path.join(' ')} needs ${lacking}`
  const needed = (command.oneOf ?? []).filter((one) => one.startsWith('--'))
  const isGiven = needed.length < (command.oneOf ?? []).length || needed.some((flag) => words.includes(flag))
  return needed.length === 0 || isGiven ? undefined : `holdfast ${command.path.join(' ')} needs one of its flags`
}

test('every command that an action names is one that there is, with its flags, and ends no sentence', (t) => {
  const faults = actions.flatMap(({ path, line, text }) =>
    [...text.matchAll(/\bholdfast ((?:-{0,2}[a-z][a-z-]* ?)+)/gu)].flatMap(([, named = '']) => {
      const fault = faultOf(named.trim())
      return fault === undefined ? [] : [`${path}:${line} ${fault}`]
    }),
  )
  t.deepEqual(faults, [])
  t.true(actions.filter(({ text }) => text.includes('holdfast')).length > 20)
})

test('every command line that is told names a command that there is, and the program once', (t) => {
  const lines = sources.flatMap(({ path, nodes }) =>
    nodes
      .filter(({ type, ...node }) => type === 'CallExpression' && (node['callee'] as Node)['name'] === 'commandLine')
      .map((node) => ({
        where: `${path}:${node.loc?.start.line}`,
        text: textOf((node['arguments'] as readonly Node[])[0]).trim(),
      }))
      .filter(({ text }) => /^[a-z]/u.test(text)),
  )
  const faults = lines.flatMap(({ where, text }) => {
    const [, named = ''] = /^((?:-{0,2}[a-z][a-z-]* ?)+)/u.exec(text) ?? []
    const fault = faultOf(named.trim())
    // Flags may follow the arguments.
    return fault === undefined || fault.endsWith('needs one of its flags') ? [] : [`${where} ${fault}`]
  })
  t.deepEqual(faults, [])
  t.true(lines.length > 50)
})

test('what a warning says to do names command lines and no routes: nobody translates it', (t) => {
  const routes = sources.flatMap(({ path, nodes }) =>
    nodes.flatMap((node) => {
      const properties = propertiesOf(node)
      const action = properties.find((property) => keyOf(property) === 'action')
      const isTold = properties.some((property) => keyOf(property) === 'message')
      return isTold && /\b(?:GET|POST|PUT|PATCH|DELETE) \/v1/u.test(textOf(action?.['value']))
        ? [`${path}:${node.loc?.start.line}`]
        : []
    }),
  )
  t.deepEqual(routes, [])
})

test('every warning of severity warning or error says what to do', (t) => {
  const silent = sources.flatMap(({ path, nodes }) =>
    nodes.flatMap((node) => {
      const properties = propertiesOf(node)
      const keys = new Set(properties.map(keyOf))
      const isWarning = ['severity', 'code', 'message'].every((key) => keys.has(key))
      const isSpread = properties.some(({ type }) => type === 'SpreadElement')
      const given = properties.find((property) => keyOf(property) === 'severity')?.['value'] as Node | undefined
      // A call makes a struct, not a warning.
      const severity = given?.type === 'CallExpression' ? '' : textOf(given)
      return isWarning && !keys.has('action') && !isSpread && /\b(?:warning|error)\b/u.test(severity)
        ? [`${path}:${node.loc?.start.line}`]
        : []
    }),
  )
  t.deepEqual(silent, [])
})
