/** The daemon's own sources, parsed once, for the conventions suite. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parse } from '@babel/parser'

export const root = resolve(import.meta.dirname, '../../..')

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
  readonly imports: readonly Import[]
}
export interface Import {
  readonly target: string
  readonly typeOnly: boolean
  readonly line: number
}

export const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

/** Every node below `tree`, with the nodes it stands in, innermost first. */
export const walk = (
  tree: Node,
  visit: (node: Node, within: readonly Node[]) => void,
  within: readonly Node[] = [],
): void => {
  visit(tree, within)
  const deeper = [tree, ...within]
  for (const [key, value] of Object.entries(tree)) {
    if (key === 'loc' || key.endsWith('Comments')) continue
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, deeper)
  }
}

const importsOf = (path: string, tree: Node): Import[] => {
  const found: Import[] = []
  walk(tree, (node) => {
    if (
      node.type !== 'ImportDeclaration' &&
      node.type !== 'ExportNamedDeclaration' &&
      node.type !== 'ExportAllDeclaration'
    )
      return
    const source = node['source'] as { value?: string } | null | undefined
    if (typeof source?.value !== 'string') return
    const typeOnly = node['importKind'] === 'type' || node['exportKind'] === 'type'
    const target = source.value.startsWith('.')
      ? join(dirname(path), source.value).replace(/\.js$/u, '.ts')
      : source.value
    found.push({ target, typeOnly, line: node.loc?.start.line ?? 0 })
  })
  return found
}

const readSource = (path: string): Source => {
  const text = readFileSync(join(root, path), 'utf8')
  const tree = parse(text, { sourceType: 'module', plugins: ['typescript'], attachComment: true })
    .program as unknown as Node
  return { path, text, lines: text.split('\n').length, tree, imports: importsOf(path, tree) }
}

export const sources: readonly Source[] = ['core', 'plugins']
  .flatMap(filesBelow)
  .filter((path) => path.endsWith('.ts'))
  .map(readSource)
