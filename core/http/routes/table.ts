/** Finds the route of a path. Literal segments win over parameters, whatever the order of registration. */
import { fault } from '../../base/assert.js'
import type { Access, Route } from './route.js'

export interface Entry {
  readonly owner: string
  readonly route: Route
  /** What is asked for: a route that changes something is never open to a read-only token (http-25). */
  readonly access: Access
  /** Names of the parameters in the path, in order. */
  readonly names: readonly string[]
}
export interface Found {
  readonly entry: Entry
  /** Raw segments, as received. */ readonly values: readonly string[]
}

export interface RouteTable {
  /** Adds a route of a plugin; returns its undo. A path and method, or an id, that is taken is refused. */
  add(owner: string, route: Route): () => void
  /** HEAD finds the route of GET. */
  find(method: string, path: string): Found | undefined
  /** Methods that the path answers to, sorted; empty for an unknown path. */
  methods(path: string): string[]
  /** All routes by path, then method. */
  list(): readonly Entry[]
  /** Rises with every change. */
  readonly version: number
}

/** What `Allow` says of a path with these methods. */
export const allowed = (methods: readonly string[]): string =>
  [...(methods.includes('GET') ? ['HEAD'] : []), ...methods, 'OPTIONS'].sort().join(', ')

interface Node {
  readonly literals: Map<string, Node>
  parameter: Node | undefined
  readonly methods: Map<string, Entry>
}
const createNode = (): Node => ({ literals: new Map(), parameter: undefined, methods: new Map() })
/** The first stands before the leading slash and is empty. */
const segmentsOf = (path: string): string[] => path.split('/')

const effectiveAccess = ({ method, access }: Route): Access =>
  method !== 'GET' && access === 'read' ? 'admin' : access

const childFor = (node: Node, segment: string): Node => {
  if (segment.startsWith(':')) return (node.parameter ??= createNode())
  const child = node.literals.get(segment) ?? createNode()
  node.literals.set(segment, child)
  return child
}

/** Calls `visit` with each node of the path, literals first, until it returns true. */
const walk = (
  root: Node,
  segments: readonly string[],
  visit: (node: Node, values: readonly string[]) => boolean,
): void => {
  const values: string[] = []
  const step = (node: Node, index: number): boolean => {
    const segment = segments[index]
    if (segment === undefined) return visit(node, values)
    const literal = node.literals.get(segment)
    if (literal !== undefined && step(literal, index + 1)) return true
    if (node.parameter === undefined || segment === '') return false
    values.push(segment)
    if (step(node.parameter, index + 1)) return true
    values.pop()
    return false
  }
  step(root, 1)
}

/** Without dot segments: clients resolve them, and ask for another path. */
const wellFormedPath = /^(\/(:[a-z][a-z0-9_]*|(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+))+$/u

const checkPath = ({ id, path, params }: Route, names: readonly string[]): void => {
  if (!wellFormedPath.test(path)) throw fault(`route ${id} has the malformed path ${path}`)
  const declared = Object.keys(params?.schema ?? {})
    .sort()
    .join()
  if (declared !== [...names].sort().join()) throw fault(`route ${id} must declare exactly the parameters of ${path}`)
}

const checkIngress = ({ id, access, ingress }: Route): void => {
  if ((access === 'ingress') !== (ingress !== undefined))
    throw fault(`route ${id} has a check of its own exactly if its access is ingress`)
}

export const createRouteTable = (): RouteTable => {
  const root = createNode()
  const byId = new Map<string, Entry>()
  let version = 0
  const add = (owner: string, route: Route): (() => void) => {
    const segments = segmentsOf(route.path).slice(1)
    const names = segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1))
    checkPath(route, names)
    checkIngress(route)
    const node = segments.reduce(childFor, root)
    const taken = node.methods.get(route.method) ?? byId.get(route.id)
    if (taken !== undefined)
      throw fault(`route ${route.id} (${route.method} ${route.path}) is taken by ${taken.owner}: ${taken.route.id}`)
    const entry: Entry = { owner, route, access: effectiveAccess(route), names }
    node.methods.set(route.method, entry)
    byId.set(route.id, entry)
    version += 1
    return () => {
      if (byId.get(route.id) !== entry) return
      byId.delete(route.id)
      node.methods.delete(route.method)
      version += 1
    }
  }
  const find = (method: string, path: string): Found | undefined => {
    const wanted = method === 'HEAD' ? 'GET' : method
    let found: Found | undefined
    walk(root, segmentsOf(path), (node, values) => {
      const entry = node.methods.get(wanted)
      if (entry !== undefined) found = { entry, values: [...values] }
      return found !== undefined
    })
    return found
  }
  const methods = (path: string): string[] => {
    const known = new Set<string>()
    walk(root, segmentsOf(path), (node) => {
      for (const method of node.methods.keys()) known.add(method)
      return false
    })
    return [...known].sort()
  }
  const list = (): Entry[] => [...byId.values()].sort((a, b) => (order(a.route) < order(b.route) ? -1 : 1))
  return {
    add,
    find,
    methods,
    list,
    get version() {
      return version
    },
  }
}

const order = ({ path, method }: Route): string => `${path} ${method}`
