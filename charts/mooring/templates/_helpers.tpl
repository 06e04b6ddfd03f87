{{- define "mooring.labels" -}}
app.kubernetes.io/name: mooring
app.kubernetes.io/part-of: mooring
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- /* What a Deployment and its Services select by; it must not change between versions. */}}
{{- define "mooring.selector" -}}
app.kubernetes.io/name: mooring
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controllers
{{- end }}

{{- define "mooring.uiSelector" -}}
app.kubernetes.io/name: mooring
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: ui
{{- end }}

{{- define "mooring.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "mooring.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (ternary "mooring" "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* The names that .Values.controllers chooses, as `mooring run --controllers` does: a JSON list. */}}
{{- define "mooring.chosen" -}}
{{- $known := include "mooring.names.known" . | splitList "," }}
{{- $chosen := dict }}
{{- if or (empty .Values.controllers) (hasPrefix "-" (first .Values.controllers)) }}
{{- range include "mooring.names.usual" . | splitList "," }}{{ $_ := set $chosen . true }}{{ end }}
{{- end }}
{{- range $word := .Values.controllers }}
{{- $name := trimPrefix "-" $word }}
{{- range ternary $known (list $name) (eq $name "*") }}
{{- if hasPrefix "-" $word }}{{ $_ := unset $chosen . }}{{ else }}{{ $_ := set $chosen . true }}{{ end }}
{{- end }}
{{- end }}
{{- $found := list }}
{{- range $known }}{{ if hasKey $chosen . }}{{ $found = append $found . }}{{ end }}{{ end }}
{{- if empty $found }}{{ fail (printf "controllers: %s leaves none" (join "," .Values.controllers)) }}{{ end }}
{{- toJson $found }}
{{- end }}

{{- /* The same without webhooks where these are off. */}}
{{- define "mooring.running" -}}
{{- $found := include "mooring.chosen" . | fromJsonArray }}
{{- if not .Values.webhooks.enabled }}
{{- range include "mooring.names.webhooks" . | splitList "," }}{{ $found = without $found . }}{{ end }}
{{- end }}
{{- if empty $found }}{{ fail "controllers: only webhooks are chosen, and webhooks.enabled is false" }}{{ end }}
{{- toJson $found }}
{{- end }}

{{- /* Whether one of some names is chosen: (list . "a,b"). */}}
{{- define "mooring.serves" -}}
{{- $chosen := include "mooring.chosen" (first .) | fromJsonArray }}
{{- $served := "" }}
{{- range last . | splitList "," }}{{ if has . $chosen }}{{ $served = "yes" }}{{ end }}{{ end }}
{{- $served }}
{{- end }}

{{- /* Whom the API server asks to convert objects. The process adds what to trust; an upgrade leaves that alone. */}}
{{- define "mooring.conversionClient" -}}
{{- if .Values.webhooks.enabled -}}
service:
  namespace: {{ .Release.Namespace }}
  name: mooring-webhooks
  port: 443
  path: /convert
{{- else -}}
url: https://127.0.0.1:9/convert
{{- end }}
{{- end }}

{{- define "mooring.podSecurity" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "mooring.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
  - ALL
{{- end }}
