"""validate-job.py FILE...: every document against Kubernetes' published schema, strictly.

The schemas name no values of enumerations, and the command kubernetes-validate passes a
document whose kind it does not know; both are refused here.
"""
import sys

import kubernetes_validate
import yaml

ENUMS = {  # key: its values in batch/v1 and v1
    "completionMode": {"Indexed", "NonIndexed"},
    "podReplacementPolicy": {"Failed", "TerminatingOrFailed"},
    "action": {"Count", "FailIndex", "FailJob", "Ignore"},
    "restartPolicy": {"Always", "Never", "OnFailure"},
    "operator": {"In", "NotIn"},
    "imagePullPolicy": {"Always", "IfNotPresent", "Never"},
}
VERSION = "1.33"


def enums(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ENUMS and isinstance(inner, str) and inner not in ENUMS[key]:
                raise ValueError(f"{path}.{key}: {inner!r} is none of {sorted(ENUMS[key])}")
            enums(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            enums(inner, f"{path}[{i}]")


failed = False
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        documents = [d for d in yaml.safe_load_all(file) if d is not None]
    failed |= not documents
    for document in documents:
        try:
            version = kubernetes_validate.validate(document, VERSION, strict=True)
            enums(document)
            print(f"{name}: {document['kind']} {document['metadata']['name']} holds for {version}")
        except Exception as error:
            print(f"{name}: {getattr(error, 'message', error)}", file=sys.stderr)
            failed = True
sys.exit(failed)
