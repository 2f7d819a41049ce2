/** The shipped list: the only place that names the plugins and says which are required. */
import type { ShippedPlugin } from '../core/plugin.js'

export const shipped: readonly ShippedPlugin[] = [
  { id: 'models', required: true, load: () => import('./execution/models/plugin.js') },
  { id: 'tools', required: true, load: () => import('./execution/tools/plugin.js') },
  { id: 'shell', required: false, load: () => import('./tools/shell/plugin.js') },
  { id: 'files', required: false, load: () => import('./tools/files/plugin.js') },
  { id: 'http', required: false, load: () => import('./connectors/http/plugin.js') },
  { id: 'external-actions', required: true, load: () => import('./execution/external-actions/plugin.js') },
  {
    id: 'deliveries',
    required: true,
    load: () => import('./execution/deliveries/plugin.js'),
    commands: () => import('./execution/deliveries/commands.js'),
  },
  {
    id: 'personas',
    required: true,
    load: () => import('./coordination/personas/plugin.js'),
    commands: () => import('./coordination/personas/commands.js'),
  },
  {
    id: 'sessions',
    required: true,
    load: () => import('./execution/sessions/plugin.js'),
    commands: () => import('./execution/sessions/commands.js'),
  },
  { id: 'engine', required: true, load: () => import('./execution/engine/plugin.js') },
  {
    id: 'runs',
    required: true,
    load: () => import('./execution/runs/plugin.js'),
    commands: () => import('./execution/runs/commands.js'),
  },
  {
    id: 'operator-contact',
    required: true,
    load: () => import('./execution/operator-contact/plugin.js'),
    commands: () => import('./execution/operator-contact/commands.js'),
  },
  {
    id: 'approvals',
    required: true,
    load: () => import('./execution/approvals/plugin.js'),
    commands: () => import('./execution/approvals/commands.js'),
  },
  {
    id: 'questions',
    required: true,
    load: () => import('./execution/questions/plugin.js'),
    commands: () => import('./execution/questions/commands.js'),
  },
  {
    id: 'debug',
    required: false,
    load: () => import('./execution/debug/plugin.js'),
    commands: () => import('./execution/debug/commands.js'),
  },
  {
    id: 'tasks',
    required: false,
    load: () => import('./execution/tasks/plugin.js'),
    commands: () => import('./execution/tasks/commands.js'),
  },
  { id: 'plan-mode', required: false, load: () => import('./execution/plan-mode/plugin.js') },
  {
    id: 'memory',
    required: false,
    load: () => import('./execution/memory/plugin.js'),
    commands: () => import('./execution/memory/commands.js'),
  },
  {
    id: 'schedules',
    required: false,
    load: () => import('./execution/schedules/plugin.js'),
    commands: () => import('./execution/schedules/commands.js'),
  },
  { id: 'demo', required: false, load: () => import('./providers/demo/plugin.js') },
  { id: 'openai-compatible', required: false, load: () => import('./providers/openai-compatible/plugin.js') },
  {
    id: 'status',
    required: true,
    load: () => import('./operator/status/plugin.js'),
    commands: () => import('./operator/status/commands.js'),
  },
  {
    id: 'permissions',
    required: false,
    load: () => import('./operator/permissions/plugin.js'),
    commands: () => import('./operator/permissions/commands.js'),
  },
  {
    id: 'runtime',
    required: true,
    load: () => import('./operator/runtime/plugin.js'),
    commands: () => import('./operator/runtime/commands.js'),
  },
]
