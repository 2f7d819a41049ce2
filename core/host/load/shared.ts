/**
 * Where the program is not its modules, those beside it are not what runs: a
 * plugin that imports `holdfast/plugin` or the contract of another plugin is
 * given the program's own, so that classes and tokens are the same on both sides.
 */
import { register } from 'node:module'
import { unsafeCast } from '../../base/schema.js'

/** The program's modules by the address of the file that they were made of; importers read them from here. */
const place = 'holdfast.modules'

type Modules = Record<string, object | (() => Promise<object>)>

/** Runs in the thread that resolves imports, and knows the names of what each module exports. */
const hook = `
let names
export const initialize = (given) => { names = given }
export const load = (url, context, next) => {
  if (!Object.hasOwn(names, url)) return next(url, context)
  const source = \`const own = globalThis[Symbol.for('${place}')]['\${url}']
export const { \${names[url].join(', ')} } = own\`
  return { format: 'module', shortCircuit: true, source }
}`

const share = async (modules: Modules): Promise<void> => {
  for (const [url, module] of Object.entries(modules)) if (typeof module === 'function') modules[url] = await module()
  const data = Object.fromEntries(Object.entries(modules).map(([url, module]) => [url, Object.keys(module)]))
  register(`data:text/javascript,${encodeURIComponent(hook)}`, { data })
}

let shared: Promise<void> | undefined
/** Resolves when plugins may be imported; at once where the modules themselves run. */
export const shareModules = (): Promise<void> => {
  const modules = unsafeCast<Modules | undefined>(Reflect.get(globalThis, Symbol.for(place)))
  return (shared ??= modules === undefined ? Promise.resolve() : share(modules))
}
