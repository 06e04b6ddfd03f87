"""The fields of a Pod and of everything in it, with their types, as the v1 API has them.

One line per type. A field is `name type`; `name!` is written even when it has its zero value, any other field only when
it is set. Types: `str`, `bool`, `int` (32 bits), `long` (64 bits), `quantity`, `port` (a number or a name), `time`,
`any`, a type of this table, `*T` (optional: its zero value counts as set), `[T]` a list, `{T}` a map of strings to T.
`<T` takes over the fields of T. Status is not described: a pod that is created has none.
"""

from typing import Final

__all__ = ["SHAPES"]

SHAPES: Final = """
AWSElasticBlockStoreVolumeSource: volumeID! str; fsType str; partition int; readOnly bool
Affinity: nodeAffinity *NodeAffinity; podAffinity *PodAffinity; podAntiAffinity *PodAntiAffinity
AppArmorProfile: type! str; localhostProfile *str
AzureDiskVolumeSource: diskName! str; diskURI! str; cachingMode *str; fsType *str; readOnly *bool; kind *str
AzureFileVolumeSource: secretName! str; shareName! str; readOnly bool
CSIVolumeSource: driver! str; readOnly *bool; fsType *str; volumeAttributes {str}; nodePublishSecretRef
  *LocalObjectReference
Capabilities: add [str]; drop [str]
CephFSVolumeSource: monitors! [str]; path str; user str; secretFile str; secretRef *LocalObjectReference; readOnly
  bool
CinderVolumeSource: volumeID! str; fsType str; readOnly bool; secretRef *LocalObjectReference
ClusterTrustBundleProjection: name *str; signerName *str; labelSelector *LabelSelector; optional *bool; path! str
ConfigMapEnvSource: name str; optional *bool
ConfigMapKeySelector: name str; key! str; optional *bool
ConfigMapProjection: name str; items [KeyToPath]; optional *bool
ConfigMapVolumeSource: name str; items [KeyToPath]; defaultMode *int; optional *bool
Container: name! str; image str; command [str]; args [str]; workingDir str; ports [ContainerPort]; envFrom
  [EnvFromSource]; env [EnvVar]; resources ResourceRequirements; resizePolicy [ContainerResizePolicy]; restartPolicy
  *str; restartPolicyRules [ContainerRestartRule]; volumeMounts [VolumeMount]; volumeDevices [VolumeDevice];
  livenessProbe *Probe; readinessProbe *Probe; startupProbe *Probe; lifecycle *Lifecycle; terminationMessagePath
  str; terminationMessagePolicy str; imagePullPolicy str; securityContext *SecurityContext; stdin bool; stdinOnce
  bool; tty bool
ContainerPort: name str; hostPort int; containerPort! int; protocol str; hostIP str
ContainerResizePolicy: resourceName! str; restartPolicy! str
ContainerRestartRule: action str; exitCodes *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator str; values [int]
DownwardAPIProjection: items [DownwardAPIVolumeFile]
DownwardAPIVolumeFile: path! str; fieldRef *ObjectFieldSelector; resourceFieldRef *ResourceFieldSelector; mode *int
DownwardAPIVolumeSource: items [DownwardAPIVolumeFile]; defaultMode *int
EmptyDirVolumeSource: medium str; sizeLimit *quantity
EnvFromSource: prefix str; configMapRef *ConfigMapEnvSource; secretRef *SecretEnvSource
EnvVar: name! str; value str; valueFrom *EnvVarSource
EnvVarSource: fieldRef *ObjectFieldSelector; resourceFieldRef *ResourceFieldSelector; configMapKeyRef
  *ConfigMapKeySelector; secretKeyRef *SecretKeySelector; fileKeyRef *FileKeySelector
EphemeralContainer: <Container; targetContainerName str
EphemeralVolumeSource: volumeClaimTemplate *PersistentVolumeClaimTemplate
ExecAction: command [str]
FCVolumeSource: targetWWNs [str]; lun *int; fsType str; readOnly bool; wwids [str]
FileKeySelector: volumeName! str; path! str; key! str; optional *bool
FlexVolumeSource: driver! str; fsType str; secretRef *LocalObjectReference; readOnly bool; options {str}
FlockerVolumeSource: datasetName str; datasetUUID str
GCEPersistentDiskVolumeSource: pdName! str; fsType str; partition int; readOnly bool
GRPCAction: port! int; service! *str
GitRepoVolumeSource: repository! str; revision str; directory str
GlusterfsVolumeSource: endpoints! str; path! str; readOnly bool
HTTPGetAction: path str; port! port; host str; scheme str; httpHeaders [HTTPHeader]
HTTPHeader: name! str; value! str
HostAlias: ip! str; hostnames [str]
HostPathVolumeSource: path! str; type *str
ISCSIVolumeSource: targetPortal! str; iqn! str; lun! int; iscsiInterface str; fsType str; readOnly bool; portals
  [str]; chapAuthDiscovery bool; chapAuthSession bool; secretRef *LocalObjectReference; initiatorName *str
ImageVolumeSource: reference str; pullPolicy str
KeyToPath: key! str; path! str; mode *int
LabelSelector: matchLabels {str}; matchExpressions [LabelSelectorRequirement]
LabelSelectorRequirement: key! str; operator! str; values [str]
Lifecycle: postStart *LifecycleHandler; preStop *LifecycleHandler; stopSignal *str
LifecycleHandler: exec *ExecAction; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; sleep *SleepAction
LocalObjectReference: name str
ManagedFieldsEntry: manager str; operation str; apiVersion str; time *time; fieldsType str; fieldsV1 *any;
  subresource str
NFSVolumeSource: server! str; path! str; readOnly bool
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution *NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution [PreferredSchedulingTerm]
NodeSelector: nodeSelectorTerms! [NodeSelectorTerm]
NodeSelectorRequirement: key! str; operator! str; values [str]
NodeSelectorTerm: matchExpressions [NodeSelectorRequirement]; matchFields [NodeSelectorRequirement]
ObjectFieldSelector: apiVersion str; fieldPath! str
ObjectMeta: name str; generateName str; namespace str; selfLink str; uid str; resourceVersion str; generation long;
  creationTimestamp time; deletionTimestamp *time; deletionGracePeriodSeconds *long; labels {str}; annotations
  {str}; ownerReferences [OwnerReference]; finalizers [str]; managedFields [ManagedFieldsEntry]
OwnerReference: apiVersion! str; kind! str; name! str; uid! str; controller *bool; blockOwnerDeletion *bool
PersistentVolumeClaimSpec: accessModes [str]; selector *LabelSelector; resources VolumeResourceRequirements;
  volumeName str; storageClassName *str; volumeMode *str; dataSource *TypedLocalObjectReference; dataSourceRef
  *TypedObjectReference; volumeAttributesClassName *str
PersistentVolumeClaimTemplate: metadata ObjectMeta; spec! PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: claimName! str; readOnly bool
PhotonPersistentDiskVolumeSource: pdID! str; fsType str
Pod: kind str; apiVersion str; metadata ObjectMeta; spec PodSpec; status any
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm];
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm]
PodAffinityTerm: labelSelector *LabelSelector; namespaces [str]; topologyKey! str; namespaceSelector *LabelSelector;
  matchLabelKeys [str]; mismatchLabelKeys [str]
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm];
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm]
PodCertificateProjection: signerName str; keyType str; maxExpirationSeconds *int; credentialBundlePath str; keyPath
  str; certificateChainPath str; userAnnotations {str}
PodDNSConfig: nameservers [str]; searches [str]; options [PodDNSConfigOption]
PodDNSConfigOption: name str; value *str
PodOS: name! str
PodReadinessGate: conditionType! str
PodResourceClaim: name! str; resourceClaimName *str; resourceClaimTemplateName *str
PodSchedulingGate: name! str
PodSecurityContext: seLinuxOptions *SELinuxOptions; windowsOptions *WindowsSecurityContextOptions; runAsUser *long;
  runAsGroup *long; runAsNonRoot *bool; supplementalGroups [long]; supplementalGroupsPolicy *str; fsGroup *long;
  sysctls [Sysctl]; fsGroupChangePolicy *str; seccompProfile *SeccompProfile; appArmorProfile *AppArmorProfile;
  seLinuxChangePolicy *str
PodSpec: volumes [Volume]; initContainers [Container]; containers! [Container]; ephemeralContainers
  [EphemeralContainer]; restartPolicy str; terminationGracePeriodSeconds *long; activeDeadlineSeconds *long;
  dnsPolicy str; nodeSelector {str}; serviceAccountName str; serviceAccount str; automountServiceAccountToken *bool;
  nodeName str; hostNetwork bool; hostPID bool; hostIPC bool; shareProcessNamespace *bool; securityContext
  *PodSecurityContext; imagePullSecrets [LocalObjectReference]; hostname str; subdomain str; affinity *Affinity;
  schedulerName str; tolerations [Toleration]; hostAliases [HostAlias]; priorityClassName str; priority *int;
  dnsConfig *PodDNSConfig; readinessGates [PodReadinessGate]; runtimeClassName *str; enableServiceLinks *bool;
  preemptionPolicy *str; overhead {quantity}; topologySpreadConstraints [TopologySpreadConstraint];
  setHostnameAsFQDN *bool; os *PodOS; hostUsers *bool; schedulingGates [PodSchedulingGate]; resourceClaims
  [PodResourceClaim]; resources *ResourceRequirements; hostnameOverride *str; workloadRef *WorkloadReference
PortworxVolumeSource: volumeID! str; fsType str; readOnly bool
PreferredSchedulingTerm: weight! int; preference! NodeSelectorTerm
Probe: exec *ExecAction; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; grpc *GRPCAction; initialDelaySeconds
  int; timeoutSeconds int; periodSeconds int; successThreshold int; failureThreshold int;
  terminationGracePeriodSeconds *long
ProjectedVolumeSource: sources! [VolumeProjection]; defaultMode *int
QuobyteVolumeSource: registry! str; volume! str; readOnly bool; user str; group str; tenant str
RBDVolumeSource: monitors! [str]; image! str; fsType str; pool str; user str; keyring str; secretRef
  *LocalObjectReference; readOnly bool
ResourceClaim: name! str; request str
ResourceFieldSelector: containerName str; resource! str; divisor quantity
ResourceRequirements: limits {quantity}; requests {quantity}; claims [ResourceClaim]
SELinuxOptions: user str; role str; type str; level str
ScaleIOVolumeSource: gateway! str; system! str; secretRef! *LocalObjectReference; sslEnabled bool; protectionDomain
  str; storagePool str; storageMode str; volumeName str; fsType str; readOnly bool
SeccompProfile: type! str; localhostProfile *str
SecretEnvSource: name str; optional *bool
SecretKeySelector: name str; key! str; optional *bool
SecretProjection: name str; items [KeyToPath]; optional *bool
SecretVolumeSource: secretName str; items [KeyToPath]; defaultMode *int; optional *bool
SecurityContext: capabilities *Capabilities; privileged *bool; seLinuxOptions *SELinuxOptions; windowsOptions
  *WindowsSecurityContextOptions; runAsUser *long; runAsGroup *long; runAsNonRoot *bool; readOnlyRootFilesystem
  *bool; allowPrivilegeEscalation *bool; procMount *str; seccompProfile *SeccompProfile; appArmorProfile
  *AppArmorProfile
ServiceAccountTokenProjection: audience str; expirationSeconds *long; path! str
SleepAction: seconds! long
StorageOSVolumeSource: volumeName str; volumeNamespace str; fsType str; readOnly bool; secretRef
  *LocalObjectReference
Sysctl: name! str; value! str
TCPSocketAction: port! port; host str
Toleration: key str; operator str; value str; effect str; tolerationSeconds *long
TopologySpreadConstraint: maxSkew! int; topologyKey! str; whenUnsatisfiable! str; labelSelector *LabelSelector;
  minDomains *int; nodeAffinityPolicy *str; nodeTaintsPolicy *str; matchLabelKeys [str]
TypedLocalObjectReference: apiGroup! *str; kind! str; name! str
TypedObjectReference: apiGroup! *str; kind! str; name! str; namespace *str
Volume: name! str; hostPath *HostPathVolumeSource; emptyDir *EmptyDirVolumeSource; gcePersistentDisk
  *GCEPersistentDiskVolumeSource; awsElasticBlockStore *AWSElasticBlockStoreVolumeSource; gitRepo
  *GitRepoVolumeSource; secret *SecretVolumeSource; nfs *NFSVolumeSource; iscsi *ISCSIVolumeSource; glusterfs
  *GlusterfsVolumeSource; persistentVolumeClaim *PersistentVolumeClaimVolumeSource; rbd *RBDVolumeSource; flexVolume
  *FlexVolumeSource; cinder *CinderVolumeSource; cephfs *CephFSVolumeSource; flocker *FlockerVolumeSource;
  downwardAPI *DownwardAPIVolumeSource; fc *FCVolumeSource; azureFile *AzureFileVolumeSource; configMap
  *ConfigMapVolumeSource; vsphereVolume *VsphereVirtualDiskVolumeSource; quobyte *QuobyteVolumeSource; azureDisk
  *AzureDiskVolumeSource; photonPersistentDisk *PhotonPersistentDiskVolumeSource; projected *ProjectedVolumeSource;
  portworxVolume *PortworxVolumeSource; scaleIO *ScaleIOVolumeSource; storageos *StorageOSVolumeSource; csi
  *CSIVolumeSource; ephemeral *EphemeralVolumeSource; image *ImageVolumeSource
VolumeDevice: name! str; devicePath! str
VolumeMount: name! str; readOnly bool; recursiveReadOnly *str; mountPath! str; subPath str; mountPropagation *str;
  subPathExpr str
VolumeProjection: secret *SecretProjection; downwardAPI *DownwardAPIProjection; configMap *ConfigMapProjection;
  serviceAccountToken *ServiceAccountTokenProjection; clusterTrustBundle *ClusterTrustBundleProjection;
  podCertificate *PodCertificateProjection
VolumeResourceRequirements: limits {quantity}; requests {quantity}
VsphereVirtualDiskVolumeSource: volumePath! str; fsType str; storagePolicyName str; storagePolicyID str
WeightedPodAffinityTerm: weight! int; podAffinityTerm! PodAffinityTerm
WindowsSecurityContextOptions: gmsaCredentialSpecName *str; gmsaCredentialSpec *str; runAsUserName *str; hostProcess
  *bool
WorkloadReference: name! str; podGroup! str; podGroupReplicaKey str
"""
