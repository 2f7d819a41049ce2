/** The daemon's own sources, parsed once, for the conventions suite. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from '@babel/parser'
import { filesBelow, root } from './files.js'

export interface Node {
  readonly type: string
  readonly loc?: { start: { line: number }; end: { line: number } }
  readonly [key: string]: unknown
}
export interface Source {
  readonly path: string
  readonly lines: number
  readonly text: string
  readonly tree: Node
  /** Every node of the tree, a node before what stands in it. */
  readonly nodes: readonly Node[]
  readonly imports: readonly Import[]
}
export interface Import {
  readonly target: string
  readonly typeOnly: boolean
  readonly line: number
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

/** Adds `node` and every node below it. */
const collect = (node: Node, nodes: Node[]): Node[] => {
  nodes.push(node)
  for (const [key, value] of Object.entries(node)) {
    if (key === 'loc' || key.endsWith('Comments')) continue
    if (Array.isArray(value)) {
      for (const child of value) if (isNode(child)) collect(child, nodes)
    } else if (isNode(value)) collect(value, nodes)
  }
  return nodes
}

const importsOf = (path: string, nodes: readonly Node[]): Import[] =>
  nodes.flatMap((node) => {
    if (
      node.type !== 'ImportDeclaration' &&
      node.type !== 'ExportNamedDeclaration' &&
      node.type !== 'ExportAllDeclaration'
    )
      return []
    const source = node['source'] as { value?: string } | null | undefined
    if (typeof source?.value !== 'string') return []
    const typeOnly = node['importKind'] === 'type' || node['exportKind'] === 'type'
    const target = source.value.startsWith('.')
      ? join(dirname(path), source.value).replace(/\.js$/u, '.ts')
      : source.value
    return [{ target, typeOnly, line: node.loc?.start.line ?? 0 }]
  })

const readSource = (path: string): Source => {
  const text = readFileSync(join(root, path), 'utf8')
  const tree = parse(text, { sourceType: 'module', plugins: ['typescript'], attachComment: true })
    .program as unknown as Node
  const nodes = collect(tree, [])
  return { path, text, lines: text.split('\n').length, tree, nodes, imports: importsOf(path, nodes) }
}

/** What makes and opens the program out of its modules is there before any part of the daemon is. */
const packaging = 'core/build/'

export const sources: readonly Source[] = ['core', 'plugins']
  .flatMap(filesBelow)
  .filter((path) => path.endsWith('.ts') && !path.startsWith(packaging))
  .map(readSource)
