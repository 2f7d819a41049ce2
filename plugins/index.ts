/** The shipped list: the only place that names the plugins and says which are required. */
import type { ShippedPlugin } from '../core/plugin.js'

export const shipped: readonly ShippedPlugin[] = [
  { id: 'tools', required: true, load: () => import('./execution/tools/plugin.js') },
]
